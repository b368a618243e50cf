import { type Browser, type Page, test as base, expect } from '@playwright/test';

export { expect };

interface WatchedPage {
  /** Errors so far, one line each. A test that provokes an error removes it. */
  readonly complaints: string[];
}

/** Takes back what Firefox tells the page of WebAssembly that its policy forbids. */
export function forgiveWebAssembly(watched: WatchedPage): void {
  forgive(watched, 'blocked WebAssembly');
}

/** Takes back what Firefox tells the page of a WebSocket that nobody answers. */
export function forgiveLostSockets(watched: WatchedPage): void {
  forgive(watched, 'establish a connection to the server at ws:');
}

function forgive({ complaints }: WatchedPage, what: string): void {
  const others = complaints.filter((text) => !text.includes(what));
  complaints.splice(0, Infinity, ...others);
}

interface WatchOptions {
  /** The only origin that the page may talk to. */
  readonly origin: string | undefined;
  /** Counts whatever the console calls an error, and what the page itself hears of its policy. */
  readonly isStrict: boolean;
}

async function watch(page: Page, { origin, isStrict }: WatchOptions): Promise<WatchedPage> {
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`error in the page: ${error.message}`));
  page.on('console', (message) => {
    const text = message.text();
    if (/content security policy/i.test(text)) complaints.push(`policy: ${text}`);
    else if (isStrict && message.type() === 'error') complaints.push(`console: ${text}`);
  });
  page.on('request', (request) => {
    const url = new URL(request.url());
    // Firefox counts what opens a WebSocket among the requests; tests choose whom pages talk to so.
    const opensSocket = request.headers()['sec-fetch-mode'] === 'websocket';
    const isLocal = url.protocol === 'blob:' || url.protocol === 'data:' || opensSocket;
    if (!isLocal && url.origin !== origin) complaints.push(`request to ${url.href}`);
  });
  if (isStrict) {
    await page.exposeFunction('reportViolation', (text: string) => complaints.push(text));
    await page.addInitScript(() => {
      document.addEventListener('securitypolicyviolation', (event) => {
        const report: unknown = Reflect.get(globalThis, 'reportViolation');
        const text = `policy: ${event.effectiveDirective} ${event.blockedURI}`;
        if (typeof report === 'function') void report(text);
      });
    });
  }
  return { complaints };
}

/** The page that tests of a file share. */
interface SharedPage {
  /** The file, and the address that was opened. */
  readonly key: string;
  readonly page: Page;
  readonly watched: WatchedPage;
}

/** The shared page of the file that runs in this process. */
class SharedPages {
  readonly #browser: Browser;
  #last: SharedPage | undefined;

  constructor(browser: Browser) {
    this.#browser = browser;
  }

  /** Opens it for the first of the tests. */
  async of(file: string, address: string, options: WatchOptions): Promise<SharedPage> {
    const last = this.#last;
    const key = `${file} ${address}`;
    if (last?.key === key && !last.page.isClosed()) return last;
    await last?.page.context().close();
    const { origin = '' } = options;
    const context = await this.#browser.newContext({ baseURL: origin });
    // Never asked for. So requests go through routes all the time: Chromium does not answer one that switches that
    // off in a worker which is ending.
    await context.route('**/keeps-routes-on', (route) => route.abort());
    const page = await context.newPage();
    const opened = { key, page, watched: await watch(page, options) };
    await page.goto(address);
    this.#last = opened;
    return opened;
  }
}

interface Fixtures {
  /** True for tests whose page may tell the console of no error at all. */
  readonly isStrict: boolean;
  readonly watched: WatchedPage;
}

/** `test` whose page may not throw, break the security policy, or talk to another origin. */
export const test = base.extend<Fixtures, { sharedPages: SharedPages }>({
  isStrict: [false, { option: true }],
  watched: [
    async ({ page, baseURL, isStrict }, use) => {
      const watched = await watch(page, { origin: baseURL, isStrict });
      await use(watched);
      expect(watched.complaints, 'a page that behaves').toEqual([]);
    },
    { auto: true },
  ],
  // Here, so that files of either kind run in one browser.
  sharedPages: [async ({ browser }, use) => use(new SharedPages(browser)), { scope: 'worker' }],
});

/**
 * The same, where the tests of a file share the page at `address`: the first opens it, and each finds what the one
 * before left there. Routes end with their test; what the page complains of is told by the test in which it comes.
 */
export const testOnOnePage = test.extend<{ address: string; shared: SharedPage }>({
  address: ['', { option: true }],
  shared: async ({ address, baseURL, isStrict, sharedPages }, use, { file }) => {
    const shared = await sharedPages.of(file, address, { origin: baseURL, isStrict });
    await use(shared);
    const { page } = shared;
    if (!page.isClosed()) await page.unrouteAll();
  },
  page: async ({ shared }, use) => use(shared.page),
  context: async ({ shared }, use) => use(shared.page.context()),
  watched: async ({ shared: { page, watched } }, use) => {
    await use(watched);
    // What came before an answer has been told by then.
    if (!page.isClosed()) await page.evaluate(() => undefined);
    expect(watched.complaints.splice(0), 'a page that behaves').toEqual([]);
  },
});

/** Opens a page of e2e/pages for the tests, which tells when its interface is there. */
export const testOfPage = testOnOnePage.extend({
  page: async ({ page }, use) => {
    await expect(page.locator('html')).toHaveAttribute('data-ready', /^(true|)$/);
    await use(page);
  },
});
