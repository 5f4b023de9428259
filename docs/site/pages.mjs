// Finds the repository's pages on the site, and reads the sidebar from the indexes of docs.
import { existsSync, readFileSync, statSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';

export const root = fileURLToPath(new URL('../..', import.meta.url));

export const read = (file) => readFileSync(path.join(root, file), 'utf8');

// The module is named after its repository: github.com/OWNER/NAME.
export const repository = 'https://' + read('go.mod').match(/^module (\S+)/m)[1];

// route returns where a page is on the site: docs/zh/kind.md is zh/kind.md, README.zh.md is
// zh/index.md, and a folder's README has the folder's name.
export function route(file) {
  const chinese = file.startsWith('docs/zh/') || file.endsWith('.zh.md');
  const name = file.replace('docs/zh/', 'docs/').replace('.zh.md', '.md')
    .replace(/^README/, 'index').replace('/README', '').replace(/^docs\//, '');
  return (chinese ? 'zh/' : '') + name.toLowerCase();
}

// address returns where a page's link leads: to a page of the site, or to a file on GitHub.
export function address(page, to) {
  if (/^([a-z]+:|#)/.test(to)) return to;
  const [name, anchor = ''] = to.split(/(?=#)/);
  const file = path.posix.join(path.posix.dirname(page), name);
  if (!existsSync(path.join(root, file))) throw new Error(`${page} links to ${to}, and there is no ${file}`);
  if (file.endsWith('.md')) return `/${route(file)}${anchor}`;
  const folder = statSync(path.join(root, file)).isDirectory();
  return `${repository}/${folder ? 'tree' : 'blob'}/main/${file}${anchor}`;
}

// anchor returns the name of a heading, as GitHub forms it.
export const anchor = (heading) => heading.toLowerCase().replace(/[^\p{L}\p{N}\-_ ]/gu, '').replaceAll(' ', '-');

export const title = (file) => read(file).match(/^# (.*)/m)[1];

// sidebar returns the lists of an index. Where an item names several pages, the later ones
// have their own titles; an English index leaves out Chinese pages.
export function sidebar(index) {
  const groups = [];
  for (const line of read(index).split('\n')) {
    if (line.startsWith('## ')) groups.push({ text: line.slice(3), items: [] });
    if (!line.startsWith('- ')) continue;
    [...line.matchAll(/\[([^\]]*)\]\(([^)]*)\)/g)].forEach(([, text, to], i) => {
      const file = path.posix.join(path.posix.dirname(index), to);
      if (to.startsWith('zh/')) return;
      groups.at(-1).items.push({ text: i === 0 ? text : title(file), link: address(index, to) });
    });
  }
  return groups;
}
