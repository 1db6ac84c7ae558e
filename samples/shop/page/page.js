// The page of a shop: its event stream once a second, drawn. Names come from anywhere, so they only become text.
'use strict';

const minute = 60, waitersShown = 5, eventsShown = 10, labelsKnown = 64, colourCount = 6;
const words = {
  connected: 'Connected', connecting: 'Connecting', suspended: 'Suspended', expired: 'Session expired',
  closed: 'Closed', silent: 'No answer from the shop', draining: 'Not ready', broken: 'Must be restarted',
};
const byId = (id) => document.getElementById(id);
const cards = new Map(); // by article
const colours = new Map(); // by label, the latest used one last
let time = -Infinity, ahead = 0; // the shop's clock, but it never runs back: it is so much ahead of it
let looks = []; // of the last minute: from when to when queues were seen
let seenAt = 0; // the shop's clock at the last one
let processes = new Map(); // that it showed
let events = []; // the latest one first

function say(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

function set(node, name, value) {
  if (node.getAttribute(name) !== String(value)) node.setAttribute(name, value);
}

/// As many children before `rest` as that: they are used again, so they do not pile up.
function children(parent, count, make, rest = null) {
  const number = () => parent.childElementCount - (rest ? 1 : 0);
  while (number() > count) parent.children[number() - 1].remove();
  while (number() < count) parent.insertBefore(make(), rest);
  return [...parent.children].slice(0, count);
}

const copy = (id) => byId(id).content.firstElementChild.cloneNode(true);
const rect = () => document.createElementNS('http://www.w3.org/2000/svg', 'rect');

function inWords(seconds) {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  return whole < 7200 ? `${Math.floor(whole / 60)} min` : `${Math.floor(whole / 3600)} h`;
}

const processOf = (one) => (one.host ? `${one.host}:${one.pid}` : '');
const nameOf = (one) => one.label || processOf(one) || 'another program';
const recent = (spans) => spans.filter(({ to }) => to > time - minute).slice(-2 * minute);
const keyOf = (one) => `${one.sequence} ${one.pid} ${one.since}`;

function colourOf(label) {
  let colour = colours.get(label);
  if (colour === undefined) {
    const used = Array(colourCount).fill(0);
    for (const other of colours.values()) ++used[other];
    colour = used.indexOf(Math.min(...used));
  }
  colours.delete(label);
  colours.set(label, colour);
  if (colours.size > labelsKnown) colours.delete(colours.keys().next().value);
  return colour;
}

// What happened between two looks.

function note(label, text, sudden = false) {
  const at = new Date(seenAt * 1000).toLocaleTimeString([], { hourCycle: 'h23' });
  events = [{ at, time, label, text, sudden }, ...events].slice(0, 2 * eventsShown);
  // What is sudden is not driven out by everyday ones.
  events = events.filter((one, n) => n < eventsShown || (one.sudden && time - one.time < minute));
}

function processesIn(articles) {
  const found = new Map();
  for (const { article, queue } of articles) {
    for (const one of queue) {
      const name = `${processOf(one)} ${one.label}`;
      if (!found.has(name)) found.set(name, { label: nameOf(one), holds: [], waits: 0 });
      if (one.holds) found.get(name).holds.push(article);
      else ++found.get(name).waits;
    }
  }
  return found;
}

/// If its hold and its places in line ended at once, it has been lost, or was told to end.
function noteLeft({ label, holds, waits }, isAll) {
  const did = holds.length ? [`held ${holds.join(', ')}`] : [];
  if (waits) did.push(`waited in ${waits} place${waits > 1 ? 's' : ''}`);
  note(label, `${isAll ? 'left' : 'is no longer listed'}; it ${did.join(' and ')}`, holds.length > 0 && waits > 0);
}

function newCard(article) {
  const root = copy('card');
  const find = (selector) => root.querySelector(selector);
  const card = {
    article, root, count: find('.count'), queue: find('.queue'), rest: find('.rest'), button: find('button'),
    strip: find('.strip'), sums: find('.sums'), said: find('.axis .picked'), runs: [], places: [], contenders: 0,
    peak: { rows: 0, at: 0 }, open: false, picked: null, holder: '',
  };
  say(find('h2'), article);
  card.button.onclick = () => { card.open = !card.open; drawQueue(card); };
  const pick = (run) => { card.picked = run; drawStrip(card); };
  card.strip.onpointermove = card.strip.onpointerdown = ({ clientX }) => {
    const box = card.strip.getBoundingClientRect();
    const at = time - minute * (1 - (clientX - box.left) / box.width);
    pick(card.runs.find(({ from, to }) => from <= at && at <= to));
  };
  card.strip.onpointerleave = card.strip.onblur = () => pick(null);
  card.strip.onkeydown = ({ key }) => {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    const now = card.runs.includes(card.picked) ? card.runs.indexOf(card.picked) : card.runs.length;
    if (step) pick(card.runs[Math.min(Math.max(now + step, 0), card.runs.length - 1)]);
  };
  root.dataset.article = article; // by which they are sorted; the last child has none
  byId('queues').insertBefore(root, [...byId('queues').children].find((next) => !(next.dataset.article <= article)));
  cards.set(article, card);
  return card;
}

function look(now, articles) {
  seenAt = now;
  const last = looks.at(-1);
  const whole = last && time - last.to < 3.5; // nothing went unseen in between
  const from = whole ? last.to : time;
  if (whole) last.to = time;
  else looks.push({ from, to: time });

  const before = processes;
  processes = processesIn(articles);
  const isAll = articles.every(({ contenders, queue }) => queue.length === contenders);
  for (const [name, had] of before) if (!processes.has(name)) noteLeft(had, isAll);
  for (const card of cards.values()) Object.assign(card, { places: [], contenders: 0 });
  for (const { article, contenders, queue } of articles)
    Object.assign(cards.get(article) || newCard(article), { places: queue, contenders, last: time });
  for (const card of cards.values()) {
    const holder = card.places.find((one) => one.holds);
    const key = holder ? keyOf(holder) : '';
    const run = card.runs.at(-1);
    if (key && key !== card.holder) note(nameOf(holder), `holds ${card.article}`);
    if (key && key === card.holder && whole) run.to = time;
    else if (key) card.runs.push({ label: nameOf(holder), from, to: time });
    card.holder = key;
    const rows = Math.min(Math.max(card.contenders - 1, 0), waitersShown);
    if (rows >= card.peak.rows || time - card.peak.at > minute) card.peak = { rows, at: time };
    if (card.last <= time - minute) {
      card.root.remove();
      cards.delete(card.article);
    }
  }
}

// Drawing.

function drawQueue(card) {
  const { places, contenders, rest } = card;
  const holder = places.find((one) => one.holds);
  const waiters = places.filter((one) => one !== holder);
  const waiting = contenders - (holder ? 1 : 0);
  card.open = card.open && waiting > waitersShown;
  let shown = waiters.length;
  if (!card.open && waiting > waitersShown) shown = waitersShown - 1;
  say(card.count, waiting ? `${waiting} waiting` : 'nobody waits');
  card.queue.style.setProperty('--rows', card.peak.rows);
  children(card.queue, shown + 1, () => copy('place'), rest).forEach((node, n) => {
    const one = n === 0 ? holder : waiters[n - 1];
    const [turn, label, process, age] = node.children;
    node.className = n > 0 ? '' : one ? 'holder' : 'nobody';
    say(turn, n > 0 ? String(n) : one ? 'holds' : contenders ? 'nobody holds it' : 'nobody wants it');
    say(label, one ? nameOf(one) : 'free');
    say(process, one ? processOf(one) : '');
    say(age, one && one.since > 0 ? inWords(seenAt - one.since) + (n ? '' : ' in line') : '');
    set(node, 'data-colour', one ? colourOf(nameOf(one)) : '');
    set(node, 'title', one ? `${nameOf(one)} ${processOf(one)}`.trim() : '');
  });
  rest.hidden = waiting <= waitersShown;
  const unlisted = waiting > waiters.length ? `, and ${waiting - waiters.length} not listed` : '';
  say(card.button, card.open ? `fewer${unlisted}` : `+ ${waiting - shown} more`);
  set(card.button, 'aria-expanded', card.open);
}

function drawLog() {
  children(byId('log'), events.length, () => copy('event')).forEach((node, n) => {
    const { at, label, text, sudden } = events[n];
    const [time, said] = node.children;
    node.className = sudden ? 'sudden' : '';
    set(node, 'data-colour', colourOf(label));
    say(time, at);
    say(said.firstElementChild, label);
    say(said.lastElementChild, text);
  });
}

const lengthOf = ({ from, to }) => to - Math.max(from, time - minute);

function drawStrip(card) {
  const seen = looks.reduce((sum, one) => sum + lengthOf(one), 0);
  const sums = new Map();
  for (const run of card.runs) sums.set(run.label, (sums.get(run.label) || 0) + lengthOf(run));
  const held = [...sums.values()].reduce((sum, one) => sum + one, 0);
  const lines = [...sums].map(([label, length]) => ({ label, length, colour: colourOf(label) }));
  lines.push({ label: 'free', length: seen - held, colour: 'free' });
  lines.push({ label: 'not seen', length: minute - seen, colour: 'unseen' });

  const all = [...looks, ...card.runs];
  children(card.strip, all.length, rect).forEach((node, n) => {
    const from = Math.max(all[n].from, time - minute);
    set(node, 'class', all[n].label === undefined ? 'look' : all[n] === card.picked ? 'run picked' : 'run');
    set(node, 'data-colour', all[n].label === undefined ? '' : colourOf(all[n].label));
    set(node, 'x', `${(100 * (from - time + minute) / minute).toFixed(2)}%`);
    set(node, 'width', `${(100 * (all[n].to - from) / minute).toFixed(2)}%`);
  });
  const shown = lines.filter(({ length }) => length >= 0.5);
  children(card.sums, shown.length, () => copy('sum')).forEach((node, n) => {
    set(node, 'data-colour', shown[n].colour);
    say(node.firstElementChild, shown[n].label);
    say(node.lastElementChild, inWords(shown[n].length));
  });
  const spoken = shown.map(({ label, length }) => `${label} ${inWords(length)}`).join(', ');
  set(card.strip, 'aria-label', `The last minute of ${card.article}: ${spoken}`);
  if (!card.runs.includes(card.picked)) card.picked = null;
  const { label, from, to } = card.picked || {};
  say(card.said, card.picked ? `${label}: ${inWords(to - from)}, until ${inWords(time - to)} ago` : '');
}

function showClient(state, reason, lease) {
  if (byId('client').dataset.state !== state) {
    byId('client').dataset.state = state;
    document.title = `${words[state] || state} – the shop`;
  }
  say(byId('state'), words[state] || state);
  say(byId('reason'), reason);
  say(byId('lease'), lease);
  document.body.classList.toggle('unseen', state !== 'connected');
}

function update({ now, shop, client, seen, articles }) {
  ahead = Math.max(ahead, time - now);
  time = now + ahead;
  let { state } = client;
  if (!client.alive) state = 'broken';
  else if (!client.ready && state === 'connected') state = 'draining';
  const lease = client.lease_seconds > 0 ? `lease ${inWords(client.lease_seconds)}` : 'no lease, as it is idle';
  const age = seen ? `the queues are those of ${inWords(now - seen)} ago` : '';
  showClient(state, client.reason, state === 'connected' ? lease : age);
  say(byId('shop'), shop ? `seen by ${shop}` : '');
  if (client.ready) look(now, articles); // otherwise they are those of the last look
  byId('empty').hidden = cards.size > 0 || !client.ready;
  looks = recent(looks);
  for (const card of cards.values()) {
    card.runs = recent(card.runs);
    drawQueue(card);
    drawStrip(card);
  }
  drawLog();
}

// The stream. EventSource asks again by itself, but not after every failure, and not when the shop hangs.

let source, heard = performance.now(), opened = 0;

function listen() {
  if (source) source.close();
  opened = performance.now();
  source = new EventSource('events');
  source.onmessage = (message) => {
    heard = performance.now();
    update(JSON.parse(message.data));
  };
  source.onerror = silent;
}

function silent() {
  showClient('silent', `for ${inWords((performance.now() - heard) / 1000)}; the page asks again and again`, '');
}

setInterval(() => {
  const now = performance.now();
  if (now - heard < 5000 && source.readyState === EventSource.OPEN) return;
  silent();
  const closed = source.readyState === EventSource.CLOSED;
  if (now - opened > (closed ? 3000 : 10000)) listen();
}, 1000);

let unanswered = 0;

byId('order').onsubmit = async (submitted) => {
  submitted.preventDefault();
  const { article, count } = submitted.target.elements;
  const items = [{ article: article.value, count: count.valueAsNumber }];
  const headers = { 'content-type': 'application/json' };
  const tell = (text) => say(byId('answer'), text + (unanswered ? ` (${unanswered} waiting)` : ''));
  ++unanswered;
  tell('');
  let text = 'The shop does not answer.';
  try {
    const reply = await fetch('orders', { method: 'POST', headers, body: JSON.stringify({ items }) });
    const told = await reply.json();
    text = told.text || `Order ${told.order} is sold, ${told.left[items[0].article]} ${items[0].article} are left.`;
  } catch { /* then it has said nothing */ }
  --unanswered;
  tell(text);
};

listen();
