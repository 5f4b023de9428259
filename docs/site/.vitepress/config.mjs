import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitepress';
import { address, anchor, read, repository, root, route, sidebar, title } from '../pages.mjs';

const here = (name) => fileURLToPath(new URL(name, import.meta.url));
const base = `/${path.basename(repository)}/`; // as GitHub Pages serves it
const icon = 'data:image/svg+xml,' + encodeURIComponent(read('emulator/internal/console/assets/icon.svg'));
const description = (page) => read(page).match(/^clbemu [^\n]*(\n\S[^\n]*)*/m)[0].replaceAll('\n', ' ');
const nav = (...pages) => pages.map((page) => ({ text: title(page), link: address('', page) }));

// linked makes the links of a page lead to the site.
function linked(md) {
  md.core.ruler.push('links', ({ tokens, env }) => {
    const page = path.relative(root, env.realPath ?? env.path);
    for (const token of tokens.flatMap((t) => t.children ?? [])) {
      if (token.type === 'link_open') token.attrSet('href', address(page, token.attrGet('href')));
    }
  });
}

// tokenize returns the words of a text for the search. The browser gets its text, so it uses
// nothing from outside.
function tokenize(text) {
  return text.split(/[\n\r\p{Z}\p{P}]+/u).flatMap((word) => /\p{Script=Han}/u.test(word) && Intl.Segmenter
    ? Array.from(new Intl.Segmenter('zh', { granularity: 'word' }).segment(word), ({ segment }) => segment)
    : word);
}

// translation adds where a page is in the other language; without a translation that is the
// front page.
function translation({ filePath }, { siteConfig }) {
  const own = route(filePath);
  const [other, front] = own.startsWith('zh/') ? [own.slice(3), ''] : [`zh/${own}`, 'zh/'];
  return { translation: '/' + (siteConfig.rewrites.inv[other] ? other.replace(/(index)?\.md$/, '') : front) };
}

// vue lets pages import it, which are outside of the folder that has it.
const vue = {
  name: 'clbemu:vue',
  enforce: 'pre',
  resolveId(id, importer) {
    if (/^vue(\/|$)/.test(id) && importer?.endsWith('.md')) return this.resolve(id, here('config.mjs'));
  },
};

export default defineConfig({
  base,
  srcDir: root,
  srcExclude: ['AGENTS.md', 'bin/**', 'clbemu-data/**'],
  outDir: path.join(root, 'bin/site'),
  rewrites: route,
  cleanUrls: true,
  title: 'clbemu',
  head: [['link', { rel: 'icon', href: icon }]],
  markdown: { theme: { light: 'github-light-high-contrast', dark: 'github-dark' }, config: linked, anchor: { slugify: anchor } },
  transformPageData: translation,
  vite: {
    plugins: [vue],
    resolve: { alias: [{ find: /^.*\/composables\/langs$/, replacement: here('theme/langs.mjs') }] },
  },
  themeConfig: {
    logo: icon,
    outline: [2, 3],
    socialLinks: [{ icon: 'github', link: repository }],
    editLink: { pattern: `${repository}/edit/main/:path` },
    search: {
      provider: 'local',
      options: {
        miniSearch: { options: { tokenize }, searchOptions: { combineWith: 'AND' } },
        locales: {
          zh: {
            translations: {
              button: { buttonText: '搜索', buttonAriaLabel: '搜索' },
              modal: {
                displayDetails: '显示详情', resetButtonTitle: '清除', backButtonTitle: '关闭', noResultsText: '没有结果：',
                footer: { selectText: '打开', navigateText: '选择', closeText: '关闭' },
              },
            },
          },
        },
      },
    },
  },
  locales: {
    root: {
      label: 'English',
      lang: 'en',
      description: description('README.md'),
      themeConfig: {
        nav: nav('docs/README.md', 'scenarios/README.md', 'examples/README.md', 'CHANGELOG.md'),
        sidebar: sidebar('docs/README.md'),
        notFound: { title: 'There is no such page', quote: '', linkLabel: 'To the front page', linkText: 'To the front page' },
      },
    },
    zh: {
      label: '简体中文',
      lang: 'zh-CN',
      description: description('README.zh.md'),
      themeConfig: {
        nav: nav('docs/zh/README.md', 'scenarios/README.zh.md', 'docs/zh/library.md'),
        sidebar: sidebar('docs/zh/README.md'),
        outline: { level: [2, 3], label: '本页目录' },
        docFooter: { prev: '上一页', next: '下一页' },
        darkModeSwitchLabel: '主题', lightModeSwitchTitle: '切换到浅色主题', darkModeSwitchTitle: '切换到深色主题',
        sidebarMenuLabel: '目录', returnToTopLabel: '返回顶部', langMenuLabel: '语言', skipToContentLabel: '跳到正文',
        notFound: { title: '没有此页', quote: '', linkLabel: '返回首页', linkText: '返回首页' },
      },
    },
  },
});
