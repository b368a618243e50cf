import type { CDPSession, Page } from 'playwright';

interface Reply {
  readonly id?: number;
  readonly result?: unknown;
  readonly error?: { readonly message: string };
}

/** Commands of Chromium's inspector for the worker of a page. */
export class WorkerInspector {
  readonly #session: CDPSession;
  readonly #sessionId: string;
  readonly #waiting = new Map<number, (reply: Reply) => void>();
  #nextId = 1;

  /** Waits for the first worker of the page. */
  static async attach(page: Page): Promise<WorkerInspector> {
    const session = await page.context().newCDPSession(page);
    const attached = new Promise<string>((resolve) => {
      session.on('Target.attachedToTarget', ({ sessionId }) => resolve(sessionId));
    });
    // Playwright hands on no flat sessions of its own.
    const options = { autoAttach: true, waitForDebuggerOnStart: false, flatten: false };
    await session.send('Target.setAutoAttach', options);
    return new WorkerInspector(session, await attached);
  }

  private constructor(session: CDPSession, sessionId: string) {
    this.#session = session;
    this.#sessionId = sessionId;
    session.on('Target.receivedMessageFromTarget', ({ message }) => {
      const reply = JSON.parse(message) as Reply;
      this.#waiting.get(reply.id ?? 0)?.(reply);
    });
  }

  async send<T>(method: string, params: object = {}): Promise<T> {
    const id = this.#nextId++;
    const replied = new Promise<Reply>((resolve) => this.#waiting.set(id, resolve));
    const message = JSON.stringify({ id, method, params });
    await this.#session.send('Target.sendMessageToTarget', {
      sessionId: this.#sessionId,
      message,
    });
    const { result, error } = await replied;
    this.#waiting.delete(id);
    if (error !== undefined) throw new Error(`${method}: ${error.message}`);
    return result as T;
  }

  /** The value of an expression in the worker. */
  async evaluate<T>(expression: string): Promise<T> {
    const { result } = await this.send<{ readonly result: { readonly value: T } }>(
      'Runtime.evaluate',
      { expression, returnByValue: true },
    );
    return result.value;
  }
}
