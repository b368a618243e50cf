/** A worker whose other end is a port in this thread. */
export class FakeWorker extends EventTarget {
  readonly inside: MessagePort;
  readonly #outside: MessagePort;
  readonly #onMessage: (worker: FakeWorker) => boolean;
  terminations = 0;

  /** `onMessage` is called for each message of either side, and returns false where it is to be lost. */
  constructor(onMessage: (worker: FakeWorker) => boolean = () => true) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#outside = port1;
    this.inside = port2;
    this.#onMessage = onMessage;
    port1.addEventListener('message', ({ data }) => {
      if (onMessage(this)) this.dispatchEvent(new MessageEvent('message', { data }));
    });
    port1.start();
  }

  postMessage(message: unknown, transfer: Transferable[]): void {
    if (this.#onMessage(this)) this.#outside.postMessage(message, transfer);
  }

  terminate(): void {
    this.terminations++;
    this.#outside.close();
  }

  /** An event as a browser sends it. */
  fail(fields: { message?: string } = {}): void {
    this.dispatchEvent(Object.assign(new Event('error'), fields));
  }
}
