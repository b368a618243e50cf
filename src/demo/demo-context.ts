import type { SessionDevice } from '../client/index.ts';
import type { MachineView } from './machine-view.ts';

/** The state that the sections share. */
export interface DemoContext {
  readonly machine: MachineView;
  /** Speaks through the page's live region. */
  announce(text: string): void;
  /** Shows an error above everything else. */
  fail(error: unknown): void;
  /** Tells what the sessions run on, and why when it is not WebGPU. */
  showDevice(device: SessionDevice): void;
}

/** A scene of the page. */
export interface Section {
  /** Called each time it is looked at; loads what it needs the first time. */
  open(): Promise<void>;
  /** Called when another one is looked at: nothing runs on unseen. */
  close(): void;
}
