import type { Page } from '@playwright/test';
import { openBroker } from '../src/cli/rpc/nats-commands.ts';
import { startRelay } from '../src/cli/rpc/start-relay.ts';
import { startNatsServer } from '../src/cli/rpc/testing/nats-server.ts';
import {
  connect,
  createToken,
  deriveRelayToken,
  findDevice,
  HostTensor,
} from '../src/rpc/index.ts';
import { Fleet } from '../src/rpc/nats/index.ts';
import { testProgram } from '../src/rpc/testing/open-connection.ts';
import { expect, test } from './fixtures.ts';

const functions = { 'local.add': () => null };

function fragment(fields: Readonly<Record<string, string>>): string {
  return `/rpc.html#${new URLSearchParams(fields).toString()}`;
}

async function lend(page: Page, fields: Readonly<Record<string, string>>): Promise<void> {
  await page.goto(fragment(fields));
  await page.waitForSelector('html[data-ready]', { state: 'attached' });
  // By keyboard: the button that lends is the first that the Tab key reaches.
  await page.keyboard.press('Tab');
  await expect(page.getByRole('button', { name: 'Lend this device' })).toBeFocused();
  await page.keyboard.press('Enter');
}

test('a page lends its device through a relay, says who is there, and stops', async ({ page }) => {
  const token = createToken();
  const relay = await startRelay({ port: 0, relayToken: await deriveRelayToken(token) });
  try {
    await lend(page, { relay: relay.url, key: 'phone', token, name: 'my phone' });
    // The token is in no address that others see, and a reload finds it nevertheless.
    expect(new URL(page.url()).hash).toBe('');
    await expect(page.getByRole('status')).toContainText(`as phone at ${relay.url}`);
    await expect(page.getByText('Nobody.')).toBeVisible();

    const remote = await connect(relay.url, { key: 'phone', token, name: 'desk' });
    expect(remote.name).toBe('my phone');
    const device = findDevice(remote, 'webgpu');
    const module = await remote.load(testProgram(), { device, functions });
    const copy = await module.getFunction('copy');
    const tensor = HostTensor.from('float32', [3], [1, 2, 3]);
    expect(await copy(tensor)).toEqual(tensor);
    const row = page.getByRole('row').filter({ hasText: 'desk' });
    await expect(row.getByRole('cell')).toHaveText(['–', '1', '1']);

    await page.getByRole('button', { name: 'Stop lending' }).press('Enter');
    expect(await remote.closed).toMatchObject({ name: 'RemoteLostError' });
    await expect(page.getByRole('status')).toHaveText('Not lent.');
    await expect(page.getByRole('button', { name: 'Lend this device' })).toBeFocused();
    await page.reload();
    await expect(page.getByLabel('Token, at least')).toHaveValue(token);
  } finally {
    await relay.close();
  }
});

test('a page lends its device over NATS', async ({ page }) => {
  const auth = createToken();
  const token = createToken();
  const server = await startNatsServer({ auth });
  const nats = await openBroker(server.url, { auth });
  try {
    const url = `${server.webSocketUrl}/`;
    await lend(page, { nats: url, group: 'lab', token, auth, name: 'page', device: 'host' });
    await expect(page.getByRole('status')).toContainText('Lends host as group lab of NATS');
    const fleet = new Fleet(nats, { token, name: 'desk' });
    const module = await fleet.load(testProgram(), { query: 'group=lab kind=host', functions });
    expect(await (await module.getFunction('same'))(41)).toBe(41);
    await expect(page.getByRole('row').filter({ hasText: 'desk' })).toBeVisible();
    module.close();
    await expect(page.getByText('Nobody.')).toBeVisible();
    await server.kill();
    await expect(page.getByRole('status')).toContainText('asks group lab');
  } finally {
    await nats.close();
    await server.close();
  }
});

test('pages share the calls of a group, and one that goes takes only its own', async ({
  context,
}) => {
  const auth = createToken();
  const token = createToken();
  const server = await startNatsServer({ auth });
  const nats = await openBroker(server.url, { auth });
  try {
    const lent = { nats: `${server.webSocketUrl}/`, group: 'lab', token, auth };
    const pages: Page[] = [];
    for (const device of ['webgpu', 'wasm', 'host']) {
      const page = await context.newPage();
      pages.push(page);
      await lend(page, { ...lent, name: `page ${pages.length}`, device });
      await expect(page.getByRole('status')).toContainText('as group lab of NATS');
    }
    const fleet = new Fleet(nats, { token, name: 'desk' });
    expect((await fleet.devices('group=lab')).map(({ name }) => name).sort()).toEqual([
      'page 1',
      'page 2',
      'page 3',
    ]);
    const module = await fleet.load(testProgram(), { query: 'group=lab', functions });
    const same = await module.getFunction('same');
    const numbers = Array.from({ length: 60 }, (_, i) => i);
    expect(await Promise.all(numbers.map((i) => same(i)))).toEqual(numbers);

    const calls = Promise.allSettled(numbers.map((i) => same(i)));
    await pages[2]?.close();
    for (const [i, outcome] of (await calls).entries()) {
      if (outcome.status === 'fulfilled') expect(outcome.value).toBe(i);
      else expect(outcome.reason).toMatchObject({ name: 'RemoteLostError' });
    }
    // Once it is known to be gone, nobody asks it.
    await expect
      .poll(async () => {
        const outcomes = await Promise.allSettled(numbers.map((i) => same(i)));
        return outcomes.every(({ status }) => status === 'fulfilled');
      })
      .toBe(true);
    module.close();
  } finally {
    await nats.close();
    await server.close();
  }
});

test('a page says why it cannot lend, and shows its address as a QR code', async ({ page }) => {
  const relay = await startRelay({ port: 0, relayToken: createToken() });
  try {
    const token = 'another token, as long as it';
    await lend(page, { relay: relay.url, key: 'phone', token, device: 'host' });
    await expect(page.getByRole('alert')).toContainText('got another token');
    await expect(page.getByRole('status')).toHaveText('Not lent.');
    await page.getByText('Lend another device too').click();
    await expect(page.getByRole('img', { name: 'The address as a QR code' })).toBeVisible();
    const link = new URL(await page.getByLabel('Address with the key').inputValue());
    expect(link.search).toBe('');
    expect(Object.fromEntries(new URLSearchParams(link.hash.slice(1)))).toEqual({
      relay: relay.url,
      key: 'phone',
      token,
      device: 'host',
    });
    await expect(page.getByText('Addresses of this machine')).toBeVisible();
    await page.getByText('What to start on the other side').click();
    const relayToken = await deriveRelayToken(token);
    const command = (name: string) => page.getByRole('region', { name: `Command for the ${name}` });
    await expect(command('place')).toContainText(`WEFT_RELAY_TOKEN=${relayToken} npx weft-vm rpc`);
    await expect(command('program')).toContainText(`--relay ${relay.url} --key phone`);
  } finally {
    await relay.close();
  }
});

for (const colorScheme of ['light', 'dark'] as const) {
  test(`the page has labels, contrast and room, ${colorScheme}`, async ({ page }) => {
    await page.emulateMedia({ colorScheme });
    await page.setViewportSize({ width: 360, height: 740 });
    const response = await page.goto('/rpc.html');
    expect(await response?.headerValue('content-security-policy')).toBe(
      "default-src 'self'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self' ws: wss:",
    );
    for (const way of ['a relay', 'NATS']) {
      await page.getByRole('radio', { name: way }).check();
      for (const field of await page.locator('input:visible, select:visible').all()) {
        expect(await field.evaluate((input) => (input as HTMLInputElement).labels?.length)).toBe(1);
      }
    }
    await expect(page.getByLabel('Group of devices')).toHaveValue('any');
    const [background, scrolls] = await page.evaluate(() => [
      getComputedStyle(document.body).backgroundColor,
      document.documentElement.scrollWidth > innerWidth,
    ]);
    expect(scrolls).toBe(false);
    expect(background).toBe(colorScheme === 'dark' ? 'rgb(18, 23, 22)' : 'rgb(247, 246, 242)');
  });
}
