import type { DeviceKind } from '../../../src/client/index.ts';
import { openPages } from '../../open-pages.ts';

/** Where a program of the table runs in a page. */
export interface PlaceInPage {
  readonly device: DeviceKind;
  /** In the worker of the package, or in the page itself. */
  readonly worker: boolean;
}

/** The page's interface to this script. */
export interface LanguagePage {
  readonly weftLanguage: {
    result(title: string, place: PlaceInPage): Promise<unknown>;
    messages(): readonly string[];
  };
}

/** Chromium with a page that runs the programs of the table. */
export interface OpenedLanguagePage {
  result(title: string, place: PlaceInPage): Promise<unknown>;
  messages(): Promise<readonly string[]>;
  close(): Promise<void>;
}

export async function openLanguagePage(): Promise<OpenedLanguagePage> {
  const pages = await openPages({ only: ['e2e/pages/language.html'] });
  try {
    const page = await pages.open('e2e/pages/language.html');
    return {
      result: (title, place) =>
        page.evaluate(
          ([of, where]) => (globalThis as unknown as LanguagePage).weftLanguage.result(of, where),
          [title, place] as const,
        ),
      messages: () =>
        page.evaluate(() => (globalThis as unknown as LanguagePage).weftLanguage.messages()),
      close: () => pages.close(),
    };
  } catch (error) {
    await pages.close();
    throw error;
  }
}
