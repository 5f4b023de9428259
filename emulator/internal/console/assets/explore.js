// What clbemu explore found: the table of calls and disturbances, and the journal of each play.

import { get } from './api.js';
import { $, addressed, asked, attempt, badge, begin, command, el, fill, latest, onNews, redraw, table, terms, to } from './page.js';
import { explored, t } from './words.js';

let results = {};

const moods = { fine: 'good', idle: 'odd', known: 'odd' };
const mood = (verdict) => moods[verdict] ?? 'bad';
const words = (play) => (play.verdict === 'violated' || play.verdict === 'known' ? `${explored(play.verdict)}: ${explored(play.rule)}` : explored(play.verdict));
const playOf = (id) => results.plays?.find((p) => p.id === id);

// titleOf is what a play is called: its disturbances, one after the other.
const disturbed = ({ kind, what, at, rest }) => {
  const name = what ? `${explored(kind)} ${explored(what)}` : explored(kind);
  const call = at.n > 1 ? `${at.action} ${at.n}` : at.action;
  if (call) return t`${name} at ${call}`;
  return rest ? t`${name} at rest ${rest + 1}` : t`${name} at rest`;
};
const titleOf = (play) => play.disturbances?.map(disturbed).join(t`, then `) || explored(play.id);

const summed = ({ made, seconds, waiting, count }) => {
  const minute = Math.round(60 * made / Math.max(seconds, 0.001));
  const share = Math.round(100 * waiting);
  const [fine, violated, known, idle, broken] = ['fine', 'violated', 'known', 'idle', 'broken'].map((verdict) => count[verdict] ?? 0);
  return t`${made} plays in ${seconds.toFixed(1)} s (${minute} a minute, ${share} % of the time waiting): ${fine} fine, ${violated} violated, ${known} known, ${idle} idle, ${broken} could not run`;
};

// differs says what differs of one resource.
const differs = ({ what, of, fields = [] }) => {
  if (what) return `${explored(what)}: ${of}`;
  const none = t`none`;
  const all = fields.map(({ name, is = none, want = none }) => t`${name} is ${is}, want ${want}`);
  return `${of}: ${all.join('; ')}`;
};

// link opens the plays of a cell, or one of them.
const link = (text, ids, shown = ids[0]) => el('a', { href: to({ play: shown, of: ids.length > 1 ? ids.join('\n') : '' }), 'data-focus': shown + text }, text);

const worst = (ids) => ids.find((id) => mood(playOf(id)?.verdict) === 'bad') ?? ids[0];

function drawCell({ text, plays }) {
  if (!plays) return el('td', { class: 'quiet none' }, '–');
  const bad = plays.filter((id) => mood(playOf(id)?.verdict) === 'bad').length;
  const said = text.replace(/[a-z]+/g, explored);
  return el('td', { class: 'cell', 'data-mood': bad ? 'bad' : text === 'ok' ? 'good' : 'odd' }, link(plays.length > 1 ? `${said} (${bad || plays.length})` : said, plays, worst(plays)));
}

function drawResults() {
  $('#count').textContent = results.plays ? String(results.plays.length) : '';
  redraw($('#about'), results, () => (results.plays
    ? [terms([[t`Scenario`, `${results.scenario}, ${results.part}`], [t`Client`, explored(results.client)], [t`Plays`, summed(results.summary)], [t`Stopped`, explored(results.stopped)]])]
    : el('div', { class: 'empty' }, el('h2', {}, t`No results yet`), el('p', {}, t`Explore your program, and let this page show the results:`),
      command(`clbemu explore --console ${location.host} -- ./my-controller --once`, true))));
  redraw($('#findings'), [results.findings], () => (results.findings?.length
    ? table(t`Violations`, [t`Rule`, t`Play`, t`Difference`], results.findings.map((f) => [
      el('td', {}, badge(explored(f.rule), f.known ? 'odd' : 'bad')), el('th', { scope: 'row' }, link(titleOf(playOf(f.plays[0])), f.plays), f.plays.length > 1 && el('span', { class: 'id' }, t`and ${f.plays.length - 1} more`)),
      [...f.difference.map((change) => el('div', {}, differs(change))), f.known && el('div', { class: 'quiet' }, f.known)]]))
    : results.plays && el('p', {}, badge(t`no violation`, 'good'))));
  redraw($('#cells'), [results.rows, results.columns], () => (results.rows?.length
    ? el('div', { class: 'scrolls', tabindex: '0', role: 'region', 'aria-label': t`Calls and disturbances` }, table(t`Calls and disturbances`, [t`Call`, ...results.columns.map((name) => explored(name.toLowerCase(), name))], results.rows.map((row) => [el('th', { scope: 'row' }, explored(row.name)), ...row.cells.map(drawCell)]))) : ''));
}

const parameters = (params) => Object.entries(params ?? {}).map(([name, value]) => el('div', {}, el('span', { class: 'quiet' }, `${name}=`), value));

function drawJournal(play) {
  if (!play.journal) return el('p', { class: 'quiet' }, play.omitted ? t`${play.omitted} calls, which the page has no room for: plays.jsonl in the folder of --out has them.` : t`No calls.`);
  return [play.omitted && el('p', { class: 'quiet' }, t`${play.omitted} calls in the middle are left out.`),
    table('', ['', t`Call`, t`Answer`, t`Parameters`], play.journal.map((c, i) => [
      el('td', { class: 'number' }, String(i + 1)),
      el('th', { scope: 'row' }, c.action, ' ', c.hand && badge(t`by hand`, 'odd'), c.faults?.map((name) => badge(name))),
      c.code ? badge(`${c.status} ${c.code}`) : String(c.status || t`none`),
      el('details', {}, el('summary', {}, `${Object.keys(c.params ?? {}).length}`), parameters(c.params))]))];
}

function drawPlay() {
  const id = asked().get('play');
  const play = playOf(id);
  const others = asked().get('of')?.split('\n').filter(playOf) ?? [];
  redraw($('#detail'), [play, others], () => {
    if (!play) return el('div', { class: 'empty' }, el('h2', {}, id ? t`There is no such play` : t`Choose a cell`), el('p', {}, t`Its plays appear here, each with the calls of its journal.`));
    return [el('div', { class: 'bar' }, el('h2', { title: play.id }, titleOf(play)), badge(words(play), mood(play.verdict)), el('a', { class: 'close', href: to({ play: '', of: '' }) }, t`Close`)),
      others.length > 1 && el('ul', { class: 'tags' }, others.map((other) => el('li', {}, other === id ? el('strong', {}, titleOf(play)) : link(titleOf(playOf(other)), others, other), badge(explored(playOf(other).verdict), mood(playOf(other).verdict))))),
      play.why && el('p', {}, play.why),
      play.expected && [el('h3', {}, t`Expected`), el('pre', {}, play.expected), el('h3', {}, t`Seen`), el('pre', {}, play.seen)],
      el('h3', {}, t`Journal`), drawJournal(play),
      play.scenario && [el('h3', {}, t`Scenario that plays it again`), el('pre', {}, play.scenario)]].flat();
  });
}

const refresh = latest(() => get('/v1/exploration'), (got) => {
  results = got;
  drawResults();
  drawPlay();
});

begin();
fill($('#detail'));
addressed(() => { attempt(async () => { if (results.plays) drawPlay(); else await refresh(); }); });
onNews(refresh, 500);
