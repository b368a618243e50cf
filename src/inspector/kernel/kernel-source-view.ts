import type { Session } from '../../client/session.ts';
import { describeError } from '../../core/format-quantity.ts';
import { LineList } from '../view/line-list.ts';

const NO_SESSION = 'Only a session has it: the device decides how a kernel runs.';

/** The code that a session's device runs for the chosen kernel. It is asked for while this is open and in sight. */
export class KernelSourceView {
  readonly root = document.createElement('details');
  readonly #summary = document.createElement('summary');
  readonly #status = document.createElement('p');
  readonly #lines = new LineList('Code of the kernel', () => undefined);
  #session: Session | undefined;
  #kernel: string | undefined;
  /** The key of the question that was asked last. */
  #requested: string | undefined;

  constructor() {
    this.root.className = 'kernel-code';
    this.#status.className = 'facts';
    this.#status.setAttribute('aria-live', 'polite');
    this.root.append(this.#summary, this.#status, this.#lines.root);
    this.root.addEventListener('toggle', () => this.#update());
    // A view whose tab comes to the front has a size from then on.
    new ResizeObserver(() => this.#update()).observe(this.root);
    this.use(undefined);
  }

  /** Turns to another session; undefined: there is none. */
  use(session: Session | undefined): void {
    this.#session = session;
    this.#kernel = undefined;
    this.#summary.textContent = `Code on ${session?.device.name ?? 'a device'}`;
    this.refresh();
  }

  /** Turns to another kernel; undefined: none is chosen. */
  show(kernel: string | undefined): void {
    if (kernel === this.#kernel) return;
    this.#kernel = kernel;
    this.refresh();
  }

  /** Asks again: sizes may have changed. */
  refresh(): void {
    this.#requested = undefined;
    this.root.hidden = this.#kernel === undefined;
    this.#update();
  }

  #update(): void {
    const kernel = this.#kernel;
    const isInSight = this.root.open && this.root.offsetParent !== null;
    if (kernel === undefined || !isInSight || this.#requested === kernel) return;
    this.#requested = kernel;
    if (this.#session === undefined) this.#say(NO_SESSION);
    else void this.#load(this.#session, kernel);
  }

  async #load(session: Session, kernel: string): Promise<void> {
    const isWanted = (): boolean => this.#session === session && this.#requested === kernel;
    this.#say('Asking the device…');
    try {
      const [source, { codeLines, describeSource }] = await Promise.all([
        session.kernelSource(kernel),
        import('./code-lines.ts'),
      ]);
      if (!isWanted()) return;
      this.#say(describeSource(source));
      this.#lines.root.hidden = false;
      this.#lines.show(codeLines(source));
    } catch (error) {
      if (isWanted()) this.#say(describeError(error));
    }
  }

  #say(text: string): void {
    this.#status.textContent = text;
    this.#lines.root.hidden = true;
  }
}
