// For page_test.py, in the page: what it shows, and events that no shop has sent.
'use strict';

function shown() {
  const all = (root, selector) => [...root.querySelectorAll(selector)].filter((node) => node.checkVisibility());
  const text = (root, selector) => all(root, selector).map((node) => node.textContent).join();
  return {
    state: byId('client').dataset.state, word: text(document, '#state'), reason: text(document, '#reason'),
    unseen: document.body.classList.contains('unseen'), empty: all(document, '#empty').length > 0,
    answer: text(document, '#answer'), lease: text(document, '#lease'), shop: text(document, '#shop'),
    log: all(document, '#log li').map((node) => ({ text: text(node, 'p'), sudden: node.className === 'sudden' })),
    cards: Object.fromEntries(all(document, 'article').map((card) => [text(card, 'h2'), {
      count: text(card, '.count'), rest: text(card, '.rest button'), picked: text(card, '.axis .picked'),
      spoken: card.querySelector('.strip').getAttribute('aria-label'),
      runs: all(card, '.run').map((node) => node.dataset.colour),
      queue: all(card, '.queue li:not(.rest)').map((node) => ({
        role: node.className, label: text(node, '.label'), process: text(node, '.process'),
        seconds: parseInt(text(node, '.age')), turn: text(node, '.turn'), colour: node.dataset.colour,
      })),
    }])),
  };
}

/// No more events come by themselves.
function detach() {
  window.listen = () => {};
  source.close();
}

function event(now, articles, more = {}) {
  const client = { alive: true, ready: true, reason: 'connected', state: 'connected', epoch: 1, lease_seconds: 3 };
  return { now, client: { ...client, ...more }, articles };
}

function place(n, now, label) {
  return { label, host: 'host', pid: 7, holds: false, sequence: n, since: now };
}

/// So many seconds of shops whose queues change, for 20 articles at a time of 200; the time at the end.
function play(begin, seconds) {
  const queues = new Map();
  for (let s = 0; s < seconds; ++s) {
    const first = Math.floor(s / 20);
    for (const article of queues.keys()) if ((article - first + 200) % 200 >= 20) queues.delete(article);
    for (let n = 0; n < 20; ++n) {
      const article = (first + n) % 200;
      const queue = queues.get(article) || [];
      if (s % 3 === n % 3) queue.shift();
      if (s % 2 === n % 2 && queue.length < n) queue.push(place(s, begin + s, `shop ${(s * 7 + n) % 100}`));
      queue.forEach((one, at) => { one.holds = at === 0; });
      queues.set(article, queue);
    }
    update(event(begin + s, [...queues].filter(([, queue]) => queue.length > 0)
      .map(([article, queue]) => ({ article: `article ${article}`, contenders: queue.length + (s % 5), queue }))));
  }
  return begin + seconds;
}

/// What is wider than its room, and does not say so by an ellipsis.
function cut() {
  return [...document.body.querySelectorAll('*')].filter((node) => node.clientWidth > 0
    && node.scrollWidth > node.clientWidth + 1 && getComputedStyle(node).textOverflow !== 'ellipsis')
    .map((node) => node.textContent);
}

/// Every text whose contrast with its background is lower than that.
function faint(least) {
  const luminance = (colour) => {
    const [r, g, b] = colour.match(/[\d.]+/g).map((one) => one / 255)
      .map((one) => (one <= 0.04045 ? one / 12.92 : ((one + 0.055) / 1.055) ** 2.4));
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = (node) => {
    const colour = getComputedStyle(node).backgroundColor;
    return colour === 'rgba(0, 0, 0, 0)' && node.parentElement ? behind(node.parentElement) : colour;
  };
  const own = (node) => [...node.childNodes].some((one) => one.nodeType === Node.TEXT_NODE && one.data.trim());
  return [...document.body.querySelectorAll('*')].filter((node) => node.checkVisibility() && own(node)).map((node) => {
    const both = [luminance(getComputedStyle(node).color), luminance(behind(node))].sort((a, b) => b - a);
    return { text: node.textContent.trim(), contrast: (both[0] + 0.05) / (both[1] + 0.05) };
  }).filter(({ contrast }) => contrast < least);
}
