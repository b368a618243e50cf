import type { BenchDevice, Peer } from './cases/bench-case.ts';

/** How a device of Weft is compared with the same kind of device of other runtimes; see README.md. */
export interface Method {
  /** Of warm runs, where `--runs` says nothing. */
  readonly rounds: number;
  /** A round runs as often as that takes. */
  readonly leastRoundMs: number;
  /** Once a case took so long, no runtime has more than {@link FEWEST_ROUNDS}. */
  readonly budgetMs: number;
  /** Which of the rounds counts. */
  readonly statistic: 'median' | 'fastest';
  /** Sessions of Weft that run in less stay in the page, others are in the worker. */
  readonly inPageMs: number;
  /** Peers that have tensors on the device between runs, which are compared with Weft's. */
  readonly residentPeers: readonly Peer[];
  /** A ratio that misses its target by less is measured twice more, and the best counts. */
  readonly repeatMargin: number;
  readonly floor: {
    readonly title: string;
    /** A run whose share of the floor is so high counts as reached. */
    readonly enough: number;
  };
  readonly cold: {
    readonly rounds: number;
    readonly budgetMs: number;
    readonly statistic: 'median' | 'fastest';
    /** Files of Weft whose starts have a target. */
    readonly sources: readonly string[];
  };
  /** How many times fewer bytes a page loads than one with onnxruntime-web. */
  readonly fewerBytes: Readonly<Record<'.weft' | '.onnx', number>>;
  /** True if a missed target is a failure. */
  readonly mustReach: boolean;
  /** Files that a page with onnxruntime-web loads. */
  readonly onnxRuntimeFiles: readonly string[];
}

export const FEWEST_ROUNDS = 3;

export const METHODS: Readonly<Record<BenchDevice, Method>> = {
  webgpu: {
    rounds: 15,
    leastRoundMs: 0,
    budgetMs: 20_000,
    statistic: 'median',
    inPageMs: 0,
    residentPeers: [],
    repeatMargin: 0,
    floor: { title: 'floor', enough: Number.POSITIVE_INFINITY },
    cold: { rounds: 3, budgetMs: 20_000, statistic: 'median', sources: ['.weft', '.onnx'] },
    fewerBytes: { '.weft': 40, '.onnx': 40 },
    mustReach: false,
    onnxRuntimeFiles: [
      'onnxruntime-web/dist/ort.webgpu.bundle.min.mjs',
      'onnxruntime-web/dist/ort-wasm-simd-threaded.asyncify.wasm',
    ],
  },
  wasm: {
    rounds: 20,
    leastRoundMs: 20,
    budgetMs: Number.POSITIVE_INFINITY,
    statistic: 'fastest',
    inPageMs: 2,
    residentPeers: ['tensorflow', 'jax'],
    repeatMargin: 0.07,
    floor: { title: 'copy', enough: 0.75 },
    cold: {
      rounds: 20,
      budgetMs: Number.POSITIVE_INFINITY,
      statistic: 'fastest',
      sources: ['.weft'],
    },
    fewerBytes: { '.weft': 20, '.onnx': 10 },
    mustReach: true,
    onnxRuntimeFiles: [
      'onnxruntime-web/dist/ort.wasm.bundle.min.mjs',
      'onnxruntime-web/dist/ort-wasm-simd-threaded.wasm',
    ],
  },
};
