import { CONCRETE_DIMS } from '../../core/dims/dim-context.ts';
import { elementCount } from '../../core/tensor/shape.ts';
import { panelKernel } from '../linear/product-panels.wasm.ts';
import { productKernel, swapped } from '../linear/product.wasm.ts';
import type { WasmCall, WasmKernel } from '../lowering/wasm-lowering.ts';
import { convolutionProblem } from './convolution-problem.ts';
import { gatheredPanels } from './gathered-panels.wasm.ts';
import { windowKernel } from './window-planes.wasm.ts';
import { type VolumeAxes, volumeAxes, windowAxes } from './window.ts';
import { findWinograd, winogradKernel } from './winograd.wasm.ts';

/** With fewer channels the panels would cost more than the products. */
const FEW_CHANNELS = 4;

/** Convolutions over one to three axes: x (N, C, ...), w (K, C / groups, ...), bias (K) or absent. */
export function convolutionKernel({ inputs, output, attributes }: WasmCall): WasmKernel {
  const [x = [], w = []] = inputs.map((type) => type?.shape);
  const options = { name: 'convolution', ceilMode: false, dims: CONCRETE_DIMS };
  const axes = volumeAxes(windowAxes(x, attributes, { ...options, kernel: w.slice(2) }));
  const [batch = 1, channels = 1] = x;
  const groups = Number(attributes['groups'] ?? 1);
  const group = channels / groups;
  const outChannels = output.shape[1] ?? 1;
  const problem = convolutionProblem({
    batch,
    outChannels,
    groups,
    groupTaps: elementCount(w.slice(1)),
    pixels: elementCount(output.shape.slice(2)),
    hasBias: inputs[2] !== undefined,
  });
  if (isImage(axes)) return swapped(productKernel(problem, 'a'));
  if (group === 1 || problem.m < FEW_CHANNELS) {
    return windowKernel({
      kind: 'weighted',
      axes,
      groups: batch * groups,
      groupIn: group,
      groupOut: problem.m,
      outChannels,
      hasBias: inputs[2] !== undefined,
      countsPad: false,
      outside: 0,
    });
  }
  const size = axes.reduce((product, axis) => product * axis.size, 1);
  const b = { ...problem.b, batch: [channels * size, group * size] };
  const winograd = { axes, channels, outChannels };
  const filter = groups === 1 ? findWinograd(winograd) : undefined;
  if (filter) return swapped(winogradKernel({ ...problem, b }, filter, winograd));
  const panels = gatheredPanels({ axes, channels: group, outChannels: problem.m });
  return swapped(panelKernel({ ...problem, b }, panels, 'a'));
}

/**
 * Returns true if the image is the matrix of windows: each is one element, or the only one is all
 * of it.
 */
function isImage(axes: VolumeAxes): boolean {
  const isPoint = axes.every(
    ({ kernel, stride, size, count }) => kernel === 1 && stride === 1 && count === size,
  );
  const isWhole = axes.every(
    ({ kernel, size, count, dilation, padBefore }) =>
      kernel === size && count === 1 && dilation === 1 && padBefore === 0,
  );
  return isPoint || isWhole;
}
