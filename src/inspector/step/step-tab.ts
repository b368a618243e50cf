import type { FunctionCode } from '../program/function-code.ts';
import type { InspectorTarget } from '../read-target.ts';
import type { StepPanel, StepPanelEvents } from './step-panel.ts';

/** The view *Step*, whose code loads when its tab is opened first. It shows the latest of what it was given then. */
export class StepTab {
  readonly #events: StepPanelEvents;
  #panel: StepPanel | undefined;
  #target: InspectorTarget = {};
  #code: { readonly functionName: string; readonly code: FunctionCode } | undefined;

  constructor(events: StepPanelEvents) {
    this.#events = events;
  }

  /** Turns to another program. */
  show(target: InspectorTarget): void {
    this.#target = target;
    this.#panel?.show(target.session, target.inputs);
  }

  /** Shows the bytecode of a function. */
  showCode(functionName: string, code: FunctionCode): void {
    this.#code = { functionName, code };
    this.#panel?.showCode(functionName, code);
  }

  async open(root: HTMLElement): Promise<void> {
    const loaded = await import('./step-panel.ts');
    if (this.#panel !== undefined) return;
    this.#panel = new loaded.StepPanel(root, this.#events);
    this.#panel.show(this.#target.session, this.#target.inputs);
    if (this.#code !== undefined) this.showCode(this.#code.functionName, this.#code.code);
  }

  /** Ends what runs. */
  close(): void {
    this.#panel?.close();
  }
}
