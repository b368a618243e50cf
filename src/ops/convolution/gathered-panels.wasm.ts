import type { Expression, Local } from '../../wasm/expression.ts';
import * as w from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import { COLUMNS, panelsAtOnce, type PanelSource } from '../linear/product-panels.wasm.ts';
import { FLOAT, plus, times, lesser } from '../../wasm/address.ts';
import { type PaddedVolumes, paddedVolumes } from './padded-volumes.wasm.ts';
import { nest, type NestDim, strided } from './tap-nest.wasm.ts';
import type { VolumeAxes } from './window.ts';

interface GatheredOptions {
  readonly axes: VolumeAxes;
  /** How many channels a group has. */
  readonly channels: number;
  /** Channels of a group's result. */
  readonly outChannels: number;
}

/** Panels of the matrix of windows, gathered from the image: lane = position, depth = channel and tap. */
export function gatheredPanels({ axes, channels, outChannels }: GatheredOptions): PanelSource {
  const image = paddedVolumes(axes, { volumes: channels });
  const taps = axes.reduce((product, { kernel }) => product * kernel, channels);
  const panelBytes = taps * COLUMNS * FLOAT;
  const index = w.local('i32');
  return {
    functions: [...image.functions, gatherFunction({ axes, channels, image })],
    packs: [],
    scratch: image.scratch,
    atOnce: panelsAtOnce({ m: outChannels, k: taps }),
    begin: (b, [copy]) => (copy ? [...image.fill(copy), ...image.copy(b, copy)] : []),
    pack: ({ b, scratch: [copy = b], panels }, first, end) =>
      s.loop({ index, begin: first, end }, [
        s.call('gather', [
          copy,
          plus(panels, times(w.apply('i32.sub', index, first), panelBytes)),
          times(index, COLUMNS),
        ]),
      ]),
  };
}

interface Gather extends Omit<GatheredOptions, 'outChannels'> {
  readonly image: PaddedVolumes;
}

/** `gather(image, panel, first)`: the windows of eight positions; behind the last one it is repeated. */
function gatherFunction(gather: Gather): WasmFunction {
  const { axes } = gather;
  const [image, panel, first] = w.locals(3);
  const [, , columns] = axes;
  const positions = axes.reduce((product, { count }) => product * count, 1);
  const params = [image, panel, first];
  const name = 'gather';
  const runs = (length: number): Statement[] => {
    const starts = w.locals(COLUMNS / length);
    return [
      ...starts.map((start, i) => {
        const position = lesser(plus(first, i * length), positions - length);
        return s.set(start, windowAddress(gather, image, position));
      }),
      ...gatherRuns(gather, { panel, starts, length }),
    ];
  };
  const isVector = columns.stride <= 2 && columns.count >= 4;
  if (isVector && columns.count % 8 === 0) return { name, params, body: runs(8) };
  if (isVector && columns.count % 4 === 0) return { name, params, body: runs(4) };
  if (!isVector || columns.count < 8) return { name, params, body: runs(1) };
  const lastColumn = w.apply('i32.rem_u', first, w.i32(columns.count));
  const isRun = w.apply('i32.le_s', lastColumn, w.i32(columns.count - 8));
  return { name, params, body: s.when(isRun, runs(8), runs(1)) };
}

/** The address of the window's first element at a position. */
function windowAddress({ axes, image }: Gather, base: Local, position: Expression): Expression {
  const [depths, rows, columns] = axes;
  const [, height, width] = image.sizes;
  const line = w.apply('i32.div_u', position, w.i32(columns.count));
  const x = w.apply('i32.rem_u', position, w.i32(columns.count));
  const y = w.apply('i32.rem_u', line, w.i32(rows.count));
  const z = w.apply('i32.div_u', line, w.i32(rows.count));
  const inPlane = plus(
    times(x, columns.stride * FLOAT),
    times(depths.count === 1 ? line : y, rows.stride * width * FLOAT),
  );
  if (depths.count === 1) return plus(base, inPlane);
  return plus(base, plus(inPlane, times(z, depths.stride * height * width * FLOAT)));
}

interface Runs {
  readonly panel: Local;
  /** Addresses of runs of so many positions that lie in a row. */
  readonly starts: readonly Local[];
  readonly length: number;
}

function gatherRuns(
  { axes, channels, image }: Gather,
  { panel, starts, length }: Runs,
): Statement[] {
  const { stride } = axes[2];
  const bases = [...starts, panel];
  return nest(tapDims({ axes, channels, image }, starts.length), bases, (pointers, offsets) => {
    const [to, toOffset] = [pointers.at(-1) ?? panel, offsets.at(-1) ?? 0];
    return starts.flatMap((_, i) => {
      const [from, offset] = [pointers[i] ?? panel, offsets[i] ?? 0];
      const at = toOffset + i * length * FLOAT;
      if (length === 1)
        return [s.store('i32', { address: to, offset: at }, w.load('i32', from, offset))];
      return Array.from({ length: length / 4 }, (__, quad) =>
        s.store(
          'v128',
          { address: to, offset: at + quad * 4 * FLOAT },
          strided(from, offset + quad * 4 * stride * FLOAT, { stride }),
        ),
      );
    });
  });
}

/** Channels and taps: they move `pointers` into the image, and one into a panel. */
function tapDims({ axes, channels, image }: Gather, pointers: number): NestDim[] {
  const [depths, rows, columns] = axes;
  const [, height, width] = image.sizes;
  const steps = (elements: number, taps: number): readonly number[] => [
    ...new Array<number>(pointers).fill(elements * FLOAT),
    taps * COLUMNS * FLOAT,
  ];
  const plane = rows.kernel * columns.kernel;
  return [
    { size: channels, steps: steps(image.volume, depths.kernel * plane) },
    { size: depths.kernel, steps: steps(depths.dilation * height * width, plane) },
    { size: rows.kernel, steps: steps(rows.dilation * width, columns.kernel) },
    { size: columns.kernel, steps: steps(columns.dilation, 1) },
  ];
}
