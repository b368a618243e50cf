import type { FunctionCode } from '../program/function-code.ts';
import type { InspectorTarget } from '../read-target.ts';
import { LateTab } from '../view/late-tab.ts';
import type { StepPanel, StepPanelEvents } from './step-panel.ts';

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

  /** Shows the bytecode of a function. */
  showCode(functionName: string, code: FunctionCode): void {
    this.#code = [functionName, code];
    this.panel?.showCode(functionName, code);
  }

  /** Ends the run of the view. */
  close(): void {
    this.panel?.close();
  }
}
