import type { PageMemory } from '../../device.ts';
import type { DrawContext } from '../pictures/draw-tensor.ts';

/** Memory that outlives programs. */
export interface LastingMemory {
  destroy(): void;
}

/** A device that belongs to the page: its `destroy` gives it back. */
interface JoinedPage extends LastingMemory {
  readonly page: PageMemory;
}

/** Shares memory with the page. `flush` submits all that was launched so far. */
export type JoinPage = (
  context: DrawContext,
  options: { readonly flush: () => void; readonly memory: readonly LastingMemory[] },
) => JoinedPage;
