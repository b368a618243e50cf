import type { DType } from '../../core/tensor/dtype.ts';
import type { OpDefinition } from '../define-op.ts';
import type { OpCase, OpCases } from '../op-cases.ts';

type Range = readonly [number, number];

/** An operator's own part of the cases that all of one input, or all of two, have. */
interface CommonCases {
  readonly summary: string;
  /** Range of the random float32 of the only input. */
  readonly range?: Range;
  /** Ranges of the random elements of two inputs. */
  readonly ranges?: readonly [Range, Range];
  readonly cases?: readonly OpCase[];
  /** Invalid calls of an operator of two inputs, in place of the one with bool operands. */
  readonly badCases?: readonly OpCase[];
}

/** The cases of an operator, of which some follow from its definition. */
export type CasesOf = (op: OpDefinition) => OpCases;

/** The cases of each operator of a list. */
export function casesOfEach<Name extends string>(
  ops: readonly OpDefinition<Name>[],
  cases: Readonly<Record<Name, CasesOf>>,
): Readonly<Record<Name, OpCases>> {
  const entries = ops.map((op) => [op.name, cases[op.name](op)]);
  return Object.fromEntries(entries) as Readonly<Record<Name, OpCases>>;
}

/** The dtypes that the first input is given. */
export const dtypesOf = (op: OpDefinition): readonly DType[] => op.inputs[0]?.dtypes ?? [];

/** The cases of an operator of one input. */
export function unary({ summary, range, cases = [], badCases = [] }: CommonCases): CasesOf {
  return (op) => ({
    summary,
    cases: () => [...unaryCases(dtypesOf(op), range), ...cases],
    badCases: () => [
      { title: 'bad dtype', inputs: [{ dtype: 'bool', shape: [2] }] },
      { title: 'no input', inputs: [] },
      {
        title: 'unknown attribute',
        inputs: [{ dtype: 'float32', shape: [2] }],
        attributes: { alhpa: 1 },
      },
      ...badCases,
    ],
  });
}

/** The cases of an operator of two inputs of one dtype. */
export function binary({ summary, ranges, cases = [], badCases }: CommonCases): CasesOf {
  return (op) => ({
    summary,
    cases: () => [...broadcastCases(dtypesOf(op), ranges), ...cases],
    badCases: () => [
      {
        title: 'shapes do not broadcast',
        inputs: [
          { dtype: 'float32', shape: [2, 3] },
          { dtype: 'float32', shape: [4, 3] },
        ],
      },
      {
        title: 'dtypes differ',
        inputs: [
          { dtype: 'float32', shape: [2] },
          { dtype: 'int32', shape: [2] },
        ],
      },
      ...(badCases ?? [
        {
          title: 'bad dtype',
          inputs: [
            { dtype: 'bool', shape: [2] },
            { dtype: 'bool', shape: [2] },
          ],
        } as const,
      ]),
      { title: 'one input', inputs: [{ dtype: 'float32', shape: [2] }] },
    ],
  });
}

const BASE_DTYPES: ReadonlySet<DType> = new Set<DType>(['float32', 'int32', 'uint32', 'bool']);

/** Shapes of every kind for operators of one input. */
export function unaryCases(
  dtypes: readonly DType[],
  range: readonly [number, number] | undefined,
): OpCase[] {
  const shapes = [[], [0], [1], [7], [3, 5], [2, 3, 4, 5], [4, 0, 3], [513, 129]];
  return dtypes
    .filter((dtype) => BASE_DTYPES.has(dtype))
    .flatMap((dtype) =>
      shapes.map((shape) => ({
        title: `${dtype} (${shape.join(', ')})`,
        inputs: [
          { dtype, shape, ...(range === undefined || dtype !== 'float32' ? {} : { range }) },
        ],
      })),
    );
}

/** Pairs of shapes that broadcast in every way, for operators of two inputs. */
export function broadcastCases(dtypes: readonly DType[], ranges?: CommonCases['ranges']): OpCase[] {
  const pairs = [
    [[], []],
    [[5], []],
    [[], [2, 3]],
    [[7], [7]],
    [
      [2, 3, 5],
      [2, 3, 5],
    ],
    [
      [4, 1],
      [1, 6],
    ],
    [[2, 3, 4], [4]],
    [
      [2, 8, 3, 3],
      [8, 1, 1],
    ],
    [
      [1, 0],
      [3, 1],
    ],
    [
      [64, 1, 33],
      [1, 31, 1],
    ],
  ];
  return dtypes
    .filter((dtype) => BASE_DTYPES.has(dtype))
    .flatMap((dtype) =>
      pairs.map(([a = [], b = []]) => ({
        title: `${dtype} (${a.join(', ')}) and (${b.join(', ')})`,
        inputs: [
          { dtype, shape: a, ...(ranges === undefined ? {} : { range: ranges[0] }) },
          { dtype, shape: b, ...(ranges === undefined ? {} : { range: ranges[1] }) },
        ],
      })),
    );
}
