import { readFileSync } from 'node:fs';
import type Axe from 'axe-core';
import type { Page } from '@playwright/test';
import type { Point } from '../src/demo/digits/rasterize-drawing.ts';
import { expect } from './fixtures.ts';

/** Text of axe-core, to be evaluated in a page before `expectAccessible`. */
export const AXE = readFileSync('node_modules/axe-core/axe.min.js', 'utf8');

/** What axe-core, which was evaluated in the page, finds in a part of it. */
export function violationsOf(page: Page, part = ':root'): Promise<string[]> {
  return page.evaluate(async (selector) => {
    const { axe } = globalThis as unknown as { axe: typeof Axe };
    const { violations } = await axe.run(selector);
    return violations.map(({ id, nodes }) => `${id}: ${nodes.map(({ html }) => html).join()}`);
  }, part);
}

/** Fails where axe finds something in the page, or it is wider than a phone or a large screen. */
export async function expectAccessible(page: Page, where: string, part = ':root'): Promise<void> {
  for (const width of [360, 1600]) {
    await page.setViewportSize({ width, height: 900 });
    expect(await violationsOf(page, part), `${where} at ${width} pixels`).toEqual([]);
    const wide = await page.evaluate(() => document.documentElement.scrollWidth);
    expect(wide, where).toBeLessThanOrEqual(width);
  }
}

/** The facts are those of a program that a section loaded by itself. */
export async function expectMachine(page: Page, title: string): Promise<void> {
  await expect(page.locator('#machine-title')).toHaveText(title);
  await expect(page.locator('#machine-facts')).toContainText(/Runs on.*Memory[\d.]+ .?B constants/);
  await expect(page.locator('#machine-inside')).toBeEnabled();
}

/** Draws strokes, in a box of 100 x 100, in the middle of the pad. */
export async function drawWithMouse(
  page: Page,
  strokes: readonly (readonly Point[])[],
): Promise<void> {
  const pad = page.locator('#pad');
  await pad.evaluate((it) => it.scrollIntoView({ block: 'center', behavior: 'instant' }));
  const box = await pad.boundingBox();
  if (box === null) throw new Error('the pad is not visible');
  const scale = (0.62 * box.width) / 100;
  const place = ({ x, y }: Point): [number, number] => [
    box.x + box.width / 2 + (x - 50) * scale,
    box.y + box.height / 2 + (y - 50) * scale,
  ];
  for (const stroke of strokes) {
    const [first, ...rest] = stroke;
    if (first === undefined) continue;
    await page.mouse.move(...place(first));
    await page.mouse.down();
    for (const point of rest) await page.mouse.move(...place(point));
    await page.mouse.up();
  }
}

/** A number that changes with any pixel of a canvas. */
export function canvasSum(page: Page, selector: string): Promise<number> {
  return page.locator(selector).evaluate((canvas) => {
    if (!(canvas instanceof HTMLCanvasElement)) throw new Error('not a canvas');
    const pixels = canvas.getContext('2d')?.getImageData(0, 0, canvas.width, canvas.height).data;
    let sum = 0;
    for (const [index, value] of (pixels ?? []).entries()) {
      sum = (sum * 31 + value * (index + 1)) % 1e9;
    }
    return sum;
  });
}

/** Waits for frames, in which a picture that moves by itself would change. */
export function passFrames(page: Page, count: number): Promise<void> {
  return page.evaluate(async (frames) => {
    for (let i = 0; i < frames; i++) await new Promise(requestAnimationFrame);
  }, count);
}

/** Looks at a scene, as somebody who scrolls to it: it runs then. */
export function lookAt(page: Page, scene: string): Promise<void> {
  return page
    .locator(`#${scene}`)
    .evaluate((element) => element.scrollIntoView({ block: 'start', behavior: 'instant' }));
}

/** Steps of the simulation that a page shows. */
export async function stepsOf(page: Page): Promise<number> {
  const text = (await page.locator('#dish-facts').textContent()) ?? '';
  return Number(/Steps so far([\d,]+?)(?:Went|Last)/.exec(text)?.[1]?.replaceAll(',', '') ?? 0);
}

/** Steps at which a simulation went on. */
export async function resumedAt(page: Page): Promise<number> {
  const facts = page.locator('#dish-facts');
  await expect(facts).toContainText('Went on at');
  const text = (await facts.textContent()) ?? '';
  return Number(/Went on atstep ([\d,]+?)Last/.exec(text)?.[1]?.replaceAll(',', ''));
}

/** The most steps of what is stored whole for a program, by the notes beside it; 0 where nothing is. */
export function keptSteps(page: Page, program: string): Promise<number> {
  return page.evaluate(async (name) => {
    const root = await navigator.storage.getDirectory();
    const stores = await root.getDirectoryHandle('weft-snapshots', { create: true });
    const store = await stores.getDirectoryHandle(name, { create: true });
    const read = async (file: string): Promise<string> => {
      const handle = await store.getFileHandle(file).catch(() => undefined);
      return (await handle?.getFile())?.text().catch(() => '') ?? '';
    };
    let most = 0;
    for (const slot of [0, 1]) {
      const text = await read(`${slot}.snapshot`);
      // The record is not there while the snapshot is written.
      if ((await read(`${slot}.commit`)) === '') continue;
      most = Math.max(most, Number(/steps\\?":(\d+)/.exec(text)?.[1] ?? 0));
    }
    return most;
  }, program);
}
