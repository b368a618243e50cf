import type { Expr } from '../../../../compiler/ir/expr.ts';
import type { Dim } from '../../../../core/dims/dim.ts';
import type { ImportNode } from '../../import-node.ts';

/** The window of a convolution or pool along the spatial axes of its input. */
export interface ImportedWindow {
  readonly kernel: readonly number[];
  readonly strides: readonly number[];
  /** The padding at the begins of the axes, then at their ends. */
  readonly pads: readonly Dim[];
  readonly dilations: readonly number[];
}

/**
 * The attributes that describe the window over `x` (N, C, ...), filled in. Throws FormatError when
 * they disagree in their number of axes.
 */
export function importWindow(node: ImportNode, x: Expr, kernel: readonly number[]): ImportedWindow {
  const spatial = node.shape(x).slice(2);
  const rank = spatial.length;
  const window = {
    kernel,
    strides: node.attributes.ints('strides') ?? new Array<number>(rank).fill(1),
    dilations: node.attributes.ints('dilations') ?? new Array<number>(rank).fill(1),
    pads: node.attributes.ints('pads') ?? new Array<number>(2 * rank).fill(0),
  };
  const { strides, dilations, pads } = window;
  const lengths = [kernel.length, strides.length, dilations.length, pads.length / 2];
  if (rank === 0 || lengths.some((length) => length !== rank)) {
    throw node.malformed(
      `kernel_shape, strides, dilations and pads of ${lengths.join(', ')} axes`,
      `${rank} in each, as the input has`,
    );
  }
  const autoPad = readAutoPad(node);
  if (autoPad === 'NOTSET') return window;
  if (autoPad === 'VALID') return { ...window, pads: pads.map(() => 0) };
  const totals = spatial.map((size, axis) => samePadding(node, size, { window, axis }));
  return { ...window, pads: distributePads(node, totals, autoPad === 'SAME_UPPER') };
}

/** Throws FormatError for a value that ONNX does not have. */
export function readAutoPad(node: ImportNode): 'NOTSET' | 'VALID' | 'SAME_UPPER' | 'SAME_LOWER' {
  const autoPad = node.attributes.string('auto_pad', 'NOTSET');
  switch (autoPad) {
    case '':
      return 'NOTSET';
    case 'NOTSET':
    case 'VALID':
    case 'SAME_UPPER':
    case 'SAME_LOWER':
      return autoPad;
    default:
      throw node.malformed(`auto_pad ${autoPad}`, 'NOTSET, VALID, SAME_UPPER or SAME_LOWER');
  }
}

/** The padding with which an axis has ceil(size / stride) windows. */
function samePadding(
  { dims }: ImportNode,
  size: Dim,
  { window, axis }: { readonly window: ImportedWindow; readonly axis: number },
): Dim {
  const stride = window.strides[axis] ?? 1;
  const extent = ((window.kernel[axis] ?? 1) - 1) * (window.dilations[axis] ?? 1) + 1;
  // By single steps, the padding does not depend on the size.
  if (stride === 1) return extent - 1;
  const windows = dims.floordiv(dims.add(size, stride - 1), stride);
  const covered = dims.add(dims.mul(dims.sub(windows, 1), stride), extent);
  return dims.max(dims.sub(covered, size), 0);
}

/** All begins, then all ends; `largerEnd` says where an odd element goes. */
export function distributePads(
  { dims }: ImportNode,
  totals: readonly Dim[],
  largerEnd: boolean,
): readonly Dim[] {
  const smaller = totals.map((total) => dims.floordiv(total, 2));
  const larger = totals.map((total, axis) => dims.sub(total, smaller[axis] ?? 0));
  return largerEnd ? [...smaller, ...larger] : [...larger, ...smaller];
}
