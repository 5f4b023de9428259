// Replaces the theme's list of languages, which assumes that each page is translated.
import { useData } from 'vitepress';
import { computed } from 'vue';

export function useLangs() {
  const { site, localeIndex, page } = useData();
  const front = (language) => (language === 'root' ? '/' : `/${language}/`);
  const currentLang = computed(() => ({ label: site.value.locales[localeIndex.value].label, link: front(localeIndex.value) }));
  const localeLinks = computed(() => Object.entries(site.value.locales)
    .filter(([language]) => language !== localeIndex.value)
    .map(([language, { label }]) => ({ text: label, link: page.value.translation ?? front(language) })));
  return { localeLinks, currentLang };
}
