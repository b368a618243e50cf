import type { FunctionCode } from '../program/function-code.ts';
import type { InspectorTarget } from '../read-target.ts';
import type { StepPanel, StepPanelEvents } from './step-panel.ts';
import type { Inputs } from '../../client/values/input-value.ts';
import type { Session } from '../../client/session.ts';

export interface SessionPanel {
  /** Turns to another session; undefined: there is none to run. */
  show(session: Session | undefined, inputs: Inputs | undefined): void;
}

/** A view whose code loads when its tab is opened first. It shows the latest target then. */
export class LateTab<Panel extends SessionPanel = SessionPanel> {
  /** The view, once its code is loaded. */
  protected panel: Panel | undefined;
  readonly #load: (root: HTMLElement) => Promise<Panel>;
  #loading: Promise<Panel> | undefined;
  #target: InspectorTarget = {};

  constructor(load: (root: HTMLElement) => Promise<Panel>) {
    this.#load = load;
  }

  /** Turns to another program. */
  show(target: InspectorTarget): void {
    this.#target = target;
    this.panel?.show(target.session, target.inputs);
  }

  async open(root: HTMLElement): Promise<void> {
    if (this.#loading !== undefined) return;
    const loading = this.#load(root);
    this.#loading = loading;
    try {
      this.panel = await loading;
      this.show(this.#target);
    } catch (error) {
      // Opened again, it is tried again.
      this.#loading = undefined;
      throw error;
    }
  }
}

/** The view *Step*, which shows bytecode too. */
export class StepTab extends LateTab<StepPanel> {
  #code: Parameters<StepPanel['showCode']> | undefined;

  constructor(events: StepPanelEvents) {
    super(async (root) => new (await import('./step-panel.ts')).StepPanel(root, events));
  }

  override show(target: InspectorTarget): void {
    super.show(target);
    if (this.#code !== undefined) this.panel?.showCode(...this.#code);
  }

  showCode(functionName: string, code: FunctionCode): void {
    this.#code = [functionName, code];
    this.panel?.showCode(functionName, code);
  }

  /** Ends the run of the view. */
  close(): void {
    this.panel?.close();
  }
}
