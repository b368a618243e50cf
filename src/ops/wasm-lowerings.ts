import { ATTENTION_WASM } from './attention/attention.wasm.ts';
import { CONVOLUTION_WASM } from './convolution/convolution-ops.wasm.ts';
import { loadDoubles } from './formula/find-intrinsic.ts';
import { LINEAR_WASM } from './linear/linear-ops.wasm.ts';
import { NORMALIZATION_WASM } from './normalization/normalization-ops.wasm.ts';
import { transposeWasm } from './movement/transpose.wasm.ts';
import { REDUCE_WASM } from './reduction/reduce.wasm.ts';
import { withHalves } from './wasm-kernels.ts';
import type { WasmLowering } from './wasm-lowering.ts';

/** Operators whose kernels are in a file of their own. */
const RARE: ReadonlySet<string> = new Set([
  'recurrent',
  'matmul_nbits',
  'gather_matmul_nbits',
  'matmul_integer',
  'conv_integer',
  'conv_transpose',
  'scatter_elements',
  'scatter_nd',
  'tensor_scatter',
  'cached_attention',
  'top_k',
  'cumulative',
  'resample',
  'batch_norm',
  'arg_max',
  'arg_min',
]);

let rare: Readonly<Record<string, WasmLowering | undefined>> = {};

/** Loads the kernels of some operators, where they are in a file of their own. */
export async function loadLowerings(names: Iterable<string>): Promise<void> {
  if (![...names].some((name) => RARE.has(name))) return;
  // Recurrent cells may have any function.
  const [loaded] = await Promise.all([import('./rare-wasm-lowerings.ts'), loadDoubles()]);
  rare = loaded.RARE_WASM_LOWERINGS;
}

/** How WebAssembly is made of an operator; those that are rare have to be loaded before. */
export const findLowering = (name: string): WasmLowering | undefined =>
  WASM_LOWERINGS[name] ?? rare[name];

/** The core operators' kernels in WebAssembly, by name; elementwise ones are made of their formulas. */
const WASM_LOWERINGS: Readonly<Record<string, WasmLowering | undefined>> = {
  ...ofHalves(LINEAR_WASM),
  ...ofHalves(CONVOLUTION_WASM),
  ...ATTENTION_WASM,
  ...NORMALIZATION_WASM,
  ...REDUCE_WASM,
  transpose: transposeWasm,
};

function ofHalves(
  lowerings: Readonly<Record<string, WasmLowering | undefined>>,
): Record<string, WasmLowering> {
  return Object.fromEntries(
    Object.entries(lowerings).flatMap(([name, lowering]) =>
      lowering === undefined ? [] : [[name, withHalves(lowering)]],
    ),
  );
}
