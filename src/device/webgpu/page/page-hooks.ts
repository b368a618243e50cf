import type { Device } from '../../device.ts';
import type { DrawContext } from '../pictures/draw-tensor.ts';

/** Methods that only a device of the page's own has. */
export type PageMethods = Pick<Device, 'adoptBuffer' | 'exposeBuffer' | 'flush'>;

/** Memory that outlives programs. */
export interface LastingMemory {
  destroy(): void;
}

/** Adds the methods to a device. Returns what gives the page's device back, in place of destroying it. */
export type JoinPage = (
  device: PageMethods,
  context: DrawContext,
  memory: readonly LastingMemory[],
) => LastingMemory;
