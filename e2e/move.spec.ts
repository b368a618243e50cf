import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import type { Browser, Page } from '@playwright/test';
import { type Relay, startRelay } from '../src/cli/rpc/start-relay.ts';
import { AXE, keptSteps, resumedAt, stepsOf, violationsOf } from './demo-page.ts';
import { expect, forgiveLostSockets, test } from './fixtures.ts';

const STORY = { prompt: 'Mia went to the park. Tom', written: '', seed: 4, isOver: false };

// The dialog asks until there is a relay.
test.afterEach(({ watched }) => forgiveLostSockets(watched));

/** A port at which nobody listens. */
async function freePort(): Promise<number> {
  const server = createServer();
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, 'close');
  return port;
}

async function askAt(page: Page, port: number): Promise<void> {
  await page.getByLabel('Address of the relay').fill(`ws://127.0.0.1:${port}/`);
  await page.getByLabel('Address of the relay').press('Enter');
}

/** Starts the relay that the dialog asks for, by what its command says. */
async function startAsked(page: Page): Promise<Relay> {
  const command = page.getByRole('region', { name: 'Command' });
  const port = await freePort();
  await askAt(page, port);
  await expect(page.getByRole('status').filter({ hasText: 'No relay answers' })).toBeVisible();
  await expect(command).toContainText(`npx weft-vm rpc relay --port ${port}`);
  const relayToken = /WEFT_RELAY_TOKEN=(\w+)/.exec((await command.textContent()) ?? '')?.[1] ?? '';
  return startRelay({ port, relayToken });
}

/** The page in a profile of its own, by the address of the code. */
async function openElsewhere(browser: Browser, page: Page): Promise<Page> {
  await expect(page.getByRole('img', { name: 'as a QR code' })).toBeVisible();
  const link = await page.getByLabel('Its address, with the key').inputValue();
  const context = await browser.newContext();
  const other = await context.newPage();
  await other.goto(link);
  return other;
}

test('moves a running simulation to another profile through a relay that it asks for', async ({
  page,
  browser,
}) => {
  await page.goto('/#simulate');
  const facts = page.locator('#dish-facts');
  await expect(facts).toContainText(/Steps so far[\d,]{3}/);
  await page.locator('#dish-send').press('Enter');
  const dialog = page.getByRole('dialog', { name: 'Move it to a phone or another browser' });
  await expect(dialog.getByRole('button', { name: 'Stay here' })).toBeFocused();
  const relay = await startAsked(page);
  try {
    const steps = await stepsOf(page);
    const other = await openElsewhere(browser, page);
    await expect(dialog).toBeHidden();
    await expect(facts).toContainText('The simulation continues on the other device.');
    for (const id of ['dish-step', 'dish-reset', 'dish-send']) {
      await expect(page.locator(`#${id}`)).toBeDisabled();
    }
    expect(await resumedAt(other)).toBe(steps);
    await expect.poll(() => stepsOf(other)).toBeGreaterThan(steps);
    // The key has left the address bar, and opens nothing a second time.
    expect(new URL(other.url()).hash).toBe('#simulate');
    await expect(other.locator('#notice')).toBeHidden();

    // It comes back as far as it has come there, and goes there again.
    const back = page.getByRole('button', { name: 'Bring it back' });
    const there = other.getByRole('button', { name: 'Bring it back' });
    const gone = await stepsOf(other);
    await back.click();
    await expect(other.locator('#dish-facts')).toContainText('continues on the other device');
    expect(await resumedAt(page)).toBeGreaterThanOrEqual(gone);
    await expect.poll(() => stepsOf(page)).toBeGreaterThan(gone);
    await expect(back).toBeHidden();
    await there.click();
    await expect(facts).toContainText('The simulation continues on the other device.');
    expect(await resumedAt(other)).toBeGreaterThanOrEqual(gone);

    // A reload goes on there, and begins anew here.
    await expect.poll(() => keptSteps(other, 'reaction-diffusion')).toBeGreaterThanOrEqual(steps);
    await other.reload();
    expect(await resumedAt(other)).toBeGreaterThanOrEqual(steps);
    await page.reload();
    await expect(facts).toContainText(/Steps so far[1-9]/);
    await expect(facts).not.toContainText('Went on at');
    await other.context().close();
  } finally {
    await relay.close();
  }
});

/** Opens the tab that writes, with a story of a seed that is not begun. */
async function openStory(page: Page): Promise<void> {
  await page.goto('/#story');
  await page.evaluate((story) => localStorage.setItem('weft-story', JSON.stringify(story)), STORY);
  await page.reload();
  await expect(page.locator('#story-write')).toBeEnabled();
}

/** The whole story, written without a break. */
async function wholeStory(page: Page): Promise<string> {
  await page.locator('#story-write').click();
  await expect(page.locator('#story-facts')).toContainText('a second');
  return (await page.locator('#story-text').textContent()) ?? '';
}

/** Lets a story be written, and presses a button when its first words are there: all of it takes a third of a second. */
async function pressMidway(page: Page, id: string): Promise<void> {
  await page.evaluate((button) => {
    const text = document.querySelector('#story-text');
    if (text === null) throw new Error('no story');
    const begin = text.textContent ?? '';
    const press = (name: string): void => document.getElementById(name)?.click();
    new MutationObserver((_, observer) => {
      if (text.textContent === begin) return;
      observer.disconnect();
      press(button);
    }).observe(text, { childList: true });
    press('story-write');
  }, id);
}

test('moves a half-written story to another tab and to another profile, with the same words', async ({
  page,
  browser,
  context,
}) => {
  await openStory(page);
  const text = page.locator('#story-text');
  const whole = await wholeStory(page);
  expect(whole.length).toBeGreaterThan(STORY.prompt.length + 40);

  await openStory(page);
  const opening = context.waitForEvent('page');
  await pressMidway(page, 'story-move');
  const tab = await opening;
  await expect(page.locator('#story-facts')).toContainText('continues in the other tab');
  const left = (await text.textContent()) ?? '';
  expect(left.length).toBeLessThan(whole.length);
  expect(whole.startsWith(left)).toBe(true);
  await expect(tab.locator('#story-text')).toHaveText(whole);
  // Not written anew: what the model had read was moved, too.
  await expect(tab.locator('#story-facts')).toContainText(/Read before[1-9]\d* of/);
  expect(new URL(tab.url()).hash).toBe('#story');
  await page.getByRole('button', { name: 'Bring it back' }).click();
  await expect(tab.locator('#story-facts')).toContainText('continues in the other tab');
  await expect(text).toHaveText(whole);
  await tab.close();

  await openStory(page);
  await pressMidway(page, 'story-send');
  const relay = await startAsked(page);
  try {
    const held = (await text.textContent()) ?? '';
    expect(held.length).toBeLessThan(whole.length);
    const other = await openElsewhere(browser, page);
    await expect(page.locator('#story-facts')).toContainText('continues on the other device');
    await expect(other.locator('#story-text')).toHaveText(whole);
    await expect(other.locator('#story-facts')).toContainText(/Read before[1-9]\d* of/);
    await other.context().close();
    await page.reload();
    await expect(page.locator('#story-write')).toBeEnabled();
    await expect(text).not.toContainText(held);
  } finally {
    await relay.close();
  }
});

test('a story that nobody takes is written to its end here', async ({ page }) => {
  await openStory(page);
  const whole = await wholeStory(page);
  await openStory(page);
  await pressMidway(page, 'story-send');
  await expect(page.getByRole('dialog')).toBeVisible();
  const held = (await page.locator('#story-text').textContent()) ?? '';
  expect(held.length).toBeLessThan(whole.length);
  await page.keyboard.press('Escape');
  await expect(page.getByRole('dialog')).toBeHidden();
  await expect(page.locator('#story-text')).toHaveText(whole);
});

test('an address that was used says so, and the page begins by itself', async ({ page }) => {
  const relay = await startRelay({ port: 0, relayToken: 'a credential of the relay' });
  try {
    const fields = { relay: relay.url, key: 'gone', token: 'a token, as long as it is' };
    const auth = 'a credential of the relay';
    await page.goto(`/#simulate&${new URLSearchParams({ ...fields, auth }).toString()}`);
    await expect(page.getByRole('alert')).toContainText('no device waits under this key');
    await expect(page.locator('#dish-facts')).toContainText(/Steps so far[1-9]/);
    expect(new URL(page.url()).hash).toBe('#simulate');
  } finally {
    await relay.close();
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`nothing is wrong with the dialog for axe-core, ${colorScheme}`, async ({
    page,
    browserName,
  }) => {
    // Firefox's content process crashes (signal 11) while axe-core walks what lies inert under an open dialog.
    const part = browserName === 'firefox' ? 'dialog' : ':root';
    await page.emulateMedia({ colorScheme, reducedMotion: 'reduce' });
    await page.goto('/#simulate');
    await page.evaluate(AXE);
    await page.locator('#dish-send').click();
    const check = async (): Promise<void> => {
      for (const width of [360, 1600]) {
        await page.setViewportSize({ width, height: 900 });
        expect(await violationsOf(page, part), `at ${width} pixels`).toEqual([]);
        const isWide = await page
          .getByRole('dialog')
          .evaluate(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth);
        expect(isWide, `wider than itself at ${width} pixels`).toBe(false);
      }
    };
    const relay = await startAsked(page);
    try {
      await expect(page.getByRole('img', { name: 'as a QR code' })).toBeVisible();
      await check();
      await relay.close();
      await askAt(page, await freePort());
      await expect(page.getByRole('region', { name: 'Command' })).toBeVisible();
      await check();
    } finally {
      await relay.close();
    }
  });
}
