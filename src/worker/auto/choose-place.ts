/** Milliseconds of a run on both devices. */
export interface RunTimes {
  readonly webgpu: number;
  readonly wasm: number;
}

/** Where a program runs, and why. */
interface ChosenPlace {
  readonly kind: keyof RunTimes;
  /** Why it was chosen, in one sentence. */
  readonly reason: string;
  /** True if the estimates of both devices are too close to trust. */
  readonly isNear: boolean;
}

/** Estimates that are closer than this are checked by a measurement. */
const NEAR = 2;

/** The faster device: as it was measured, or as an estimate says. Pure. */
export function choosePlace(
  adapter: string,
  estimated: RunTimes,
  measured: RunTimes | undefined,
): ChosenPlace {
  const times = measured ?? estimated;
  const [least, most] = [times.webgpu, times.wasm].toSorted((a, b) => a - b);
  const how = measured === undefined ? 'By an estimate' : 'As measured';
  const [webgpu, wasm] = [times.webgpu, times.wasm].map(formatMs);
  return {
    kind: times.wasm < times.webgpu ? 'wasm' : 'webgpu',
    reason: `${how}, a run takes ${webgpu} on ${adapter} and ${wasm} in WebAssembly.`,
    isNear: measured === undefined && (most ?? 0) < NEAR * (least ?? 0),
  };
}

function formatMs(ms: number): string {
  return `${Number(ms.toPrecision(2))} ms`;
}
