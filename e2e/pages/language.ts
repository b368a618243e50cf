import { messagesOf } from '../../scripts/show/language/mistakes.ts';
import type { LanguagePage } from '../../scripts/show/language/open-language-page.ts';
import { PROGRAMS } from '../../scripts/show/language/programs.ts';
import { resultOf } from '../../scripts/show/language/result-of.ts';

const page: LanguagePage['weftLanguage'] = {
  result(title, { device, worker }) {
    const shown = PROGRAMS.find((one) => one.title === title);
    if (shown === undefined) throw new Error(`No program of the table is called ${title}.`);
    // Functions of a user's operators are code, which goes into no worker but the page's own.
    return resultOf(shown, { device, worker: worker && shown.options?.operators === undefined });
  },
  messages: messagesOf,
};

Object.assign(globalThis, { weftLanguage: page });
document.documentElement.dataset['ready'] = 'true';
