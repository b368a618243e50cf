import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { intsAttribute } from '../attributes.ts';
import { reduceKernel } from '../reduction/reduce.wasm.ts';
import type { WasmCall, WasmKernel } from '../lowering/wasm-lowering.ts';
import { windowKernel } from './window-planes.wasm.ts';
import type { PlaneWindow } from './window-tile.ts';
import { volumeAxes, windowAxes } from './window.ts';

/** Elements of a window that is all of its image from which on it is added up as by `globalPoolKernel`. */
const LONG_WINDOW = 1024;

/** Pools over a sliding window along one to three axes. */
export const poolKernel =
  (kind: Exclude<PlaneWindow['kind'], 'weighted'>) =>
  (call: WasmCall): WasmKernel => {
    const { inputs, output, attributes } = call;
    const axes = windowAxes(inputs[0]?.shape ?? [], attributes, {
      name: 'pool',
      kernel: intsAttribute(attributes, 'kernel'),
      ceilMode: attributes['ceil_mode'] === true,
      dims: CONCRETE_DIMS,
    });
    const isWhole = axes.every(
      ({ kernel, size, dilation, padBefore, padAfter }) =>
        kernel === size && dilation === 1 && padBefore + padAfter === 0,
    );
    const taps = axes.reduce((product, { kernel }) => product * kernel, 1);
    const isSum = kind === 'mean' || kind === 'sum';
    if (isWhole && isSum && taps > LONG_WINDOW) {
      const whole = reduceKernel(kind, new Set(axes.map((_, axis) => axis + 2)), call);
      if (whole) return whole;
    }
    return windowKernel({
      kind,
      axes: volumeAxes(axes),
      groups: elementCount(output.shape.slice(0, 2)),
      groupIn: 1,
      groupOut: 1,
      outChannels: 1,
      hasBias: false,
      countsPad: attributes['count_include_pad'] === true,
      outside: kind === 'max' ? -Infinity : 0,
    });
  };

/** Pools over all axes behind the channels. */
export const globalPoolKernel =
  (kind: 'max' | 'mean') =>
  (call: WasmCall): WasmKernel | undefined => {
    const rank = call.inputs[0]?.shape.length ?? 0;
    const axes = Array.from({ length: Math.max(rank - 2, 0) }, (_, i) => i + 2);
    return reduceKernel(kind, new Set(axes), call);
  };
