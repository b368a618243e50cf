/** Memory after a collection, in bytes. */
export interface MemorySample {
  /** Cycles of load, run and dispose so far. */
  readonly cycle: number;
  /** JavaScript's heap and the memory that it holds outside, such as array buffers. */
  readonly scriptBytes: number;
  /** All of the process: what drivers and allocators keep counts as well. */
  readonly processBytes: number;
  /** Live GPU buffers. */
  readonly deviceBytes: number;
}
