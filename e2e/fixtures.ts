import { test as base, expect } from '@playwright/test';

export { expect };

export interface WatchedPage {
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

/** `test` whose page may not throw, break the security policy, or talk to another origin. */
export const test = base.extend<{ watched: WatchedPage }>({
  watched: [
    async ({ page, baseURL }, use) => {
      const complaints: string[] = [];
      page.on('pageerror', (error) => complaints.push(`error in the page: ${error.message}`));
      page.on('console', (message) => {
        const text = message.text();
        if (/content security policy/i.test(text)) complaints.push(`policy: ${text}`);
      });
      page.on('request', (request) => {
        const url = new URL(request.url());
        // Firefox counts what opens a WebSocket among the requests; tests choose whom pages talk to so.
        const opensSocket = request.headers()['sec-fetch-mode'] === 'websocket';
        const isLocal = url.protocol === 'blob:' || url.protocol === 'data:' || opensSocket;
        if (!isLocal && url.origin !== baseURL) complaints.push(`request to ${url.href}`);
      });
      await use({ complaints });
      expect(complaints, 'a page that behaves').toEqual([]);
    },
    { auto: true },
  ],
});
