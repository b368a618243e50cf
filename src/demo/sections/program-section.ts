import type { Session } from '../../client/index.ts';
import type { DemoContext, Section } from '../demo-context.ts';

/** A section whose program is loaded when it is first opened. The machine beside it shows its session. */
export abstract class ProgramSection implements Section {
  protected readonly context: DemoContext;
  /** The executable's name. */
  protected readonly title: string;
  protected session: Session | undefined;
  protected isOpen = false;
  #opening: Promise<void> | undefined;

  constructor(context: DemoContext, title: string) {
    this.context = context;
    this.title = title;
  }

  /**
   * Loads the program, sets `session`, and may begin to run it. A load that failed is tried again
   * at the next opening.
   */
  protected abstract load(): Promise<void>;

  async open(): Promise<void> {
    this.isOpen = true;
    await this.showMachine();
    this.#opening ??= this.load();
    try {
      await this.#opening;
      await this.showMachine();
    } catch (error) {
      this.#opening = undefined;
      throw error;
    }
  }

  /** Loads the program anew, after it has left. */
  protected reopen(): Promise<void> {
    this.#opening = undefined;
    return this.open();
  }

  close(): void {
    this.isOpen = false;
  }

  /** Turns the machine to the session, as long as the section is looked at. */
  protected async showMachine(): Promise<void> {
    if (this.isOpen) await this.context.machine.show(this.session, this.title);
  }
}
