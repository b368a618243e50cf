import { openPages } from '../../open-pages.ts';
import type { Row } from './row.ts';

export type Measured = 'operator' | 'program';

/** The page's interface to this script. */
export interface GradientPage {
  readonly weftGradients: { measure(kind: Measured, name: string): Promise<Row> };
}

/** Chromium with a page that measures operators and programs on its WebGPU. */
export interface OpenedGradientPage {
  measure(kind: Measured, name: string): Promise<Row>;
  close(): Promise<void>;
}

export async function openGradientPage(): Promise<OpenedGradientPage> {
  const pages = await openPages({ only: ['e2e/pages/gradients.html'] });
  try {
    const page = await pages.open('e2e/pages/gradients.html');
    return {
      measure: (kind, name) =>
        page.evaluate(
          ([of, called]) =>
            (globalThis as unknown as GradientPage).weftGradients.measure(of, called),
          [kind, name] as const,
        ),
      close: () => pages.close(),
    };
  } catch (error) {
    await pages.close();
    throw error;
  }
}
