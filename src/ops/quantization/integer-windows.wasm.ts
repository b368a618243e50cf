import { plus, times } from '../../wasm/address.ts';
import { apply, type Expression, i32, load, local, locals } from '../../wasm/expression.ts';
import type { Statement, WasmFunction } from '../../wasm/statement.ts';
import * as s from '../../wasm/statement.ts';
import type { VolumeAxes } from '../convolution/window.ts';
import { type ByteSign, COLUMNS, type PairSource } from './integer-product.wasm.ts';

interface WindowPairs {
  readonly axes: VolumeAxes;
  /** How many channels a group has. */
  readonly channels: number;
  readonly sign: ByteSign;
  /** From the zero point of one channel to the next; undefined: there are none. */
  readonly zeroStride: number | undefined;
}

/** Bytes of a pair of 16 bits, and of those of a panel side by side. */
const PAIR = 4;
const LINE = COLUMNS * PAIR;

/** Panels of the matrix of windows, gathered from the image less its zero points; the padding is 0. */
export function windowPairs(windows: WindowPairs): PairSource {
  const { axes, channels } = windows;
  const positions = axes.reduce((product, { count }) => product * count, 1);
  const taps = axes.reduce((product, { kernel }) => product * kernel, channels);
  const panelBytes = Math.max(Math.ceil(taps / 2), 1) * LINE;
  return {
    takesZeros: true,
    functions: [gather(windows)],
    pack({ b, zeros, panels }, first, end) {
      const [index, column, position] = locals(3);
      const inPanel = times(apply('i32.sub', index, first), panelBytes);
      return s.loop({ index, begin: first, end }, [
        ...s.loop({ index: column, end: i32(COLUMNS) }, [
          s.set(position, plus(times(index, COLUMNS), column)),
          // Columns behind the last one are not used.
          ...s.when(apply('i32.lt_s', position, i32(positions)), [
            s.call('gather', [
              b,
              zeros,
              plus(panels, plus(inPanel, times(column, PAIR))),
              position,
            ]),
          ]),
        ]),
      ]);
    },
  };
}

/** `gather(image, zeros, to, position)`: a window, by pairs of elements. */
function gather({ axes, channels, sign, zeroStride }: WindowPairs): WasmFunction {
  const [image, zeros, to, position] = locals(4);
  const [depths, rows, columns] = axes;
  const width = sign === 's' ? 'i8_s' : 'i8_u';
  const [channel, plane, zero, tap] = locals(4);
  const steps = axes.map(({ kernel }) => ({ index: local('i32'), at: local('i32'), kernel }));
  const starts = axes.map(() => local('i32'));
  const [z, y, x] = steps;
  if (!(z && y && x)) return { name: 'gather', params: [], body: [] };
  const line = apply('i32.div_u', position, i32(columns.count));
  const places = [
    apply('i32.div_u', line, i32(rows.count)),
    apply('i32.rem_u', line, i32(rows.count)),
    apply('i32.rem_u', position, i32(columns.count)),
  ];
  const isInside = steps
    .map(({ at }, i) => apply('i32.lt_u', at, i32(axes[i]?.size ?? 1)))
    .reduce((all, inside) => apply('i32.and', all, inside));
  const element = plus(plus(plane, times(plus(times(z.at, rows.size), y.at), columns.size)), x.at);
  const target = plus(
    to,
    plus(times(apply('i32.shr_u', tap, i32(1)), LINE), times(apply('i32.and', tap, i32(1)), 2)),
  );
  const value = local('i32');
  const body: Statement[] = [
    s.set(value, i32(0)),
    ...s.when(isInside, [s.set(value, apply('i32.sub', load(width, element), zero))]),
    s.store('i16', { address: target }, value),
    s.increment(tap, 1),
  ];
  const nest = steps.reduceRight<Statement[]>((inner, { index, at, kernel }, i) => {
    const begin = starts[i] ?? position;
    const dilation = axes[i]?.dilation ?? 1;
    return s.loop({ index, end: i32(kernel) }, [
      s.set(at, plus(begin, times(index, dilation))),
      ...inner,
    ]);
  }, body);
  const volume = depths.size * rows.size * columns.size;
  return {
    name: 'gather',
    params: [image, zeros, to, position],
    body: [
      ...starts.map((start, i) => {
        const { stride = 1, padBefore = 0 } = axes[i] ?? {};
        return s.set(start, plus(times(places[i] ?? position, stride), -padBefore));
      }),
      s.set(tap, i32(0)),
      s.set(plane, image),
      ...s.loop({ index: channel, end: i32(channels) }, [
        s.set(zero, zeroStride === undefined ? i32(0) : zeroOf(zeroStride)),
        ...nest,
        s.increment(plane, volume),
      ]),
    ],
  };

  function zeroOf(stride: number): Expression {
    return load(width, plus(zeros, times(channel, stride)));
  }
}
