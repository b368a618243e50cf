#!/usr/bin/env node
// Stands for a Firefox that Playwright launches. Playwright speaks WebDriver BiDi to it, with commands
// that a release of Firefox may not know yet; here they are answered. Everything else passes through.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { WebSocket, WebSocketServer } from 'ws';
import { findFirefox } from './find-firefox.mjs';

const LISTENING = /WebDriver BiDi listening on ws:\/\/127\.0\.0\.1:(\d+)/;
const EMULATE_MEDIA = 'emulation.setMediaFeaturesOverride';
/**
 * A session is told of every worker, and a worker that starts another one waits until it was. In release 153 it
 * waits for ever now and then, so the session gives up hearing of them: `page.workers()` is empty in Firefox.
 */
const IGNORE_WORKERS = `ChromeUtils.importESModule(
  'chrome://remote/content/shared/js-process-actors/WebDriverWorkerListenerActor.sys.mjs'
).unregisterWebDriverWorkerListenerActor()`;
const MAX_MESSAGE_BYTE_LENGTH = 2 ** 30;
/** Ids of commands of our own, beyond those that Playwright counts up to. */
const OWN_ID = 2 ** 40;

const firefox = findFirefox();
if (firefox === undefined) {
  console.error('No Firefox: `npm test` installs one, or set WEFT_FIREFOX to its path.');
  process.exit(1);
}

/** Sets the colours that pages are told to prefer, for the browser as a whole. */
class ColorScheme {
  #nextId = OWN_ID;
  #waiting = new Map();

  constructor(send) {
    this.send = send;
  }

  command(method, params) {
    const id = this.#nextId++;
    this.send(JSON.stringify({ id, method, params }));
    return new Promise((resolve) => this.#waiting.set(id, resolve));
  }

  /** Returns whether the message answers a command of our own. */
  answer({ id, result }) {
    const resolve = this.#waiting.get(id);
    this.#waiting.delete(id);
    resolve?.(result);
    return resolve !== undefined;
  }

  set(scheme) {
    const value = { dark: 0, light: 1 }[scheme] ?? 2;
    return this.evaluate(
      `Services.prefs.setIntPref('layout.css.prefers-color-scheme.content-override', ${value})`,
    );
  }

  /** Evaluates an expression in the browser's own window. */
  async evaluate(expression) {
    const tree = await this.command('browsingContext.getTree', { 'moz:scope': 'chrome' });
    const target = { context: tree?.contexts[0]?.context };
    return this.command('script.evaluate', { expression, target, awaitPromise: false });
  }
}

const decoder = new TextDecoder();

function connect(client, address) {
  const server = new WebSocket(address, {
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTE_LENGTH,
  });
  const early = [];
  const send = (text) => {
    if (server.readyState === WebSocket.OPEN) server.send(text);
    else early.push(text);
  };
  const colors = new ColorScheme(send);
  server.on('open', () => {
    for (const text of early) server.send(text);
  });
  let sessionId;
  client.on('message', async (data) => {
    const text = decoder.decode(data);
    const message = JSON.parse(text);
    if (message.method === 'session.new') sessionId = message.id;
    if (message.method !== EMULATE_MEDIA) return send(text);
    await colors.set(message.params.features['prefers-color-scheme']);
    client.send(JSON.stringify({ type: 'success', id: message.id, result: {} }));
  });
  server.on('message', (data) => {
    const text = decoder.decode(data);
    const message = JSON.parse(text);
    if (colors.answer(message)) return;
    const isNew = message.id !== undefined && message.id === sessionId;
    const ignored = isNew ? colors.evaluate(IGNORE_WORKERS) : Promise.resolve();
    void ignored.then(() => client.send(text));
  });
  const end = () => {
    client.terminate();
    server.terminate();
  };
  for (const socket of [client, server]) {
    socket.on('close', end);
    socket.on('error', end);
  }
}

const args = [...process.argv.slice(2), '--remote-allow-system-access'];
const browser = spawn(firefox, args, { stdio: ['ignore', 'inherit', 'pipe'] });
browser.on('error', (error) => {
  console.error(`cannot run ${firefox}: ${error.message}`);
  process.exit(1);
});
browser.on('exit', (code) => process.exit(code ?? 1));
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'])
  process.on(signal, () => browser.kill(signal));

createInterface({ input: browser.stderr }).on('line', (line) => {
  const port = LISTENING.exec(line)?.[1];
  if (port === undefined) {
    process.stderr.write(`${line}\n`);
    return;
  }
  const relay = new WebSocketServer({
    host: '127.0.0.1',
    port: 0,
    perMessageDeflate: false,
    maxPayload: MAX_MESSAGE_BYTE_LENGTH,
  });
  relay.on('connection', (client, { url }) => connect(client, `ws://127.0.0.1:${port}${url}`));
  relay.on('listening', () => {
    process.stderr.write(`WebDriver BiDi listening on ws://127.0.0.1:${relay.address().port}\n`);
  });
});
