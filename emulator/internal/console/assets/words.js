// The texts of the console in the language of its pages. Each text in English is the key
// of its translation.

const { words = {}, fields = {}, scenarios = {}, explored: names = {} } = document.documentElement.lang === 'en' ? {} : await import('./zh.js');

const within = (all, name) => (Object.hasOwn(all, name) ? all[name] : undefined);

// t is a text with what stands in ${}: t`Delete ${name}?` has the key "Delete {0}?".
export function t(parts, ...values) {
  const text = within(words, parts.map((part, i) => (i ? `{${i - 1}}${part}` : part)).join(''));
  return text?.replace(/\{(\d)\}/g, (_, i) => values[i]) ?? String.raw({ raw: parts }, ...values);
}

// translated is a text that the emulator sends, such as the title of a kind.
export const translated = (text) => within(words, text) ?? text;

// field is the name of a resource's field.
export const field = (name, english = name) => within(fields, name) ?? english;

// explored is the name of a disturbance, a rule or a verdict of clbemu explore.
export const explored = (name, english = name) => within(names, name) ?? english;

// scenario holds the texts of a scenario of the library: about and advice.
export const scenario = (name) => within(scenarios, name) ?? {};

// switchLanguage shows the pages in another language; the cookie tells the server.
export function switchLanguage(to) {
  document.cookie = `clbemu-language=${to}; path=/; max-age=31536000; samesite=lax`;
  location.reload();
}
