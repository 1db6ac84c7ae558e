// The rules of a simple lock, step by step.
