import type { CDPSession, Page } from 'playwright';
import type { InspectorPage } from '../../e2e/pages/inspector.ts';
import { openPages } from '../open-pages.ts';
import { frameTimes, threadOf, type TraceEvent } from './inspector/frame-times.ts';
import { Checks } from './text/checks.ts';

declare const weftInspector: InspectorPage;

const KERNELS = 3000;
const FRAMES = 300;
const LONGEST_LAYOUT_MS = 2000;
const USUAL_FRAME_MS = 8;
const LONGEST_FRAME_MS = 33;
const CATEGORIES = 'toplevel,blink.user_timing,disabled-by-default-devtools.timeline';

/**
 * `npm run show -- inspector`: a graph of 3,000 nodes in Chromium, panned close up and from afar. Times are those of all
 * tasks of the page's thread, from a trace of the browser. Resolves to 0 only when all of it holds.
 */
export async function main(): Promise<number> {
  const checks = new Checks();
  const pages = await openPages({ only: ['e2e/pages/inspector.html'] });
  try {
    const page = await pages.open('e2e/pages/inspector.html');
    await page.setViewportSize({ width: 1280, height: 720 });
    const client = await page.context().newCDPSession(page);
    const { result, events } = await traced(client, () =>
      page.evaluate((count) => weftInspector.showDeep(count), KERNELS),
    );
    const { nodes, layoutMs } = result;
    checks.check(nodes >= KERNELS, `a graph of ${nodes} nodes`);
    checks.check(layoutMs < LONGEST_LAYOUT_MS, `its layout took ${layoutMs.toFixed(0)} ms`);
    const [layoutThread, pageThread] = ['weft-layout', 'show'].map((name) =>
      threadOf(events, name),
    );
    checks.check(
      layoutThread !== undefined && layoutThread !== pageThread,
      'it ran in a thread of its own',
    );
    await pan(page, client, checks, false);
    await pan(page, client, checks, true);
  } finally {
    await pages.close();
  }
  return checks.end();
}

async function pan(
  page: Page,
  client: CDPSession,
  checks: Checks,
  zoomedOut: boolean,
): Promise<void> {
  checks.section(zoomedOut ? 'From afar' : 'Close up');
  const { result, events } = await traced(client, () =>
    page.evaluate(([frames, far]) => weftInspector.pan(frames, far), [FRAMES, zoomedOut] as const),
  );
  const times = frameTimes(events, 'pan-').toSorted((a, b) => a - b);
  const at = (share: number): number => times[Math.ceil(times.length * share) - 1] ?? Infinity;
  const ms = (value: number): string => `${value.toFixed(1)} ms`;
  checks.check(times.length >= FRAMES - 2, `${times.length} frames while panning`);
  checks.check(at(0.95) < USUAL_FRAME_MS, `95 of 100 frames took at most ${ms(at(0.95))}`);
  checks.check(at(1) <= LONGEST_FRAME_MS, `the longest frame took ${ms(at(1))}`);
  checks.note(`half of them took at most ${ms(at(0.5))}`);
  checks.check(
    result.mostNodes > 0 && result.mostNodes < KERNELS / 2,
    `at most ${result.mostNodes} nodes were drawn at a time`,
  );
}

/** Does something while the browser writes down what its threads do. */
async function traced<T>(
  client: CDPSession,
  work: () => Promise<T>,
): Promise<{ result: T; events: readonly TraceEvent[] }> {
  const events: TraceEvent[] = [];
  const collect = ({ value }: { value: object[] }): void => {
    events.push(...(value as TraceEvent[]));
  };
  client.on('Tracing.dataCollected', collect);
  await client.send('Tracing.start', { categories: CATEGORIES, transferMode: 'ReportEvents' });
  const result = await work();
  const complete = new Promise((resolve) => client.once('Tracing.tracingComplete', resolve));
  await client.send('Tracing.end');
  await complete;
  client.off('Tracing.dataCollected', collect);
  return { result, events };
}
