"""SVG plots, drawn by gnuplot."""
import shutil
import subprocess

HEAD = """set terminal svg size 1000,600 font "sans-serif,13" background "white"
set output "{path}"
set title "{title}" noenhanced
set logscale y
set ylabel "operations/s"
set grid y
set key outside bottom center horizontal noenhanced
"""


def bars(title, contestants, rates, path):
    """The script for bars: rates is case -> contestant -> operations/s."""
    script = HEAD.format(path=path, title=title)
    script += "set yrange [1:*]\n$data << EOD\n"
    for case, measured in rates.items():
        values = " ".join(f"{measured[name]:.6g}" if name in measured else "NaN" for name in contestants)
        script += f'"{case}" {values}\n'
    script += "EOD\n"
    script += "set style data histograms\nset style histogram clustered gap 1\n"
    script += "set style fill solid 0.8\nset xtics rotate by 30 right noenhanced\nplot "
    script += ", ".join(f'$data using {i + 2}:xtic(1) title "{name}"' for i, name in enumerate(contestants))
    return script + "\n"


def curves(title, axis, points, path):
    """The script for scaling curves: points is contestant -> number -> operations/s."""
    script = HEAD.format(path=path, title=title)
    script += f'set logscale x\nset xlabel "{axis}"\n'
    for i, measured in enumerate(points.values()):
        script += f"$data{i} << EOD\n"
        script += "".join(f"{number} {rate:.6g}\n" for number, rate in sorted(measured.items()))
        script += "EOD\n"
    script += "plot " + ", ".join(f'$data{i} with linespoints lw 2 title "{name}"'
                                  for i, name in enumerate(points))
    return script + "\n"


def available():
    return shutil.which("gnuplot") is not None


def draw(script):
    subprocess.run(["gnuplot"], input=script, text=True, check=True)
