import type { SessionDevice } from '../client/index.ts';
import type { FlowDiagram } from './flow-diagram.ts';
import type { MachineView } from './machine-view.ts';

/** The state that the sections share. */
export interface DemoContext {
  readonly machine: MachineView;
  readonly flow: FlowDiagram;
  /** Speaks through the page's live region. */
  announce(text: string): void;
  /** Shows an error above everything else. */
  fail(error: unknown): void;
  /** Tells what the sessions run on, and why when it is not WebGPU; `isFastest` is reason enough. */
  showDevice(device: SessionDevice, options?: { readonly isFastest?: boolean }): void;
}

/** A tab's panel. */
export interface Section {
  /** Called each time the tab is chosen; loads what it needs the first time. */
  open(): Promise<void>;
  /** Called when another tab is chosen: nothing runs on unseen. */
  close(): void;
}
