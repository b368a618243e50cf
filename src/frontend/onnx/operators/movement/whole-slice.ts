import { type Dim, MAX_DIMENSION } from '../../../../core/dims/dim.ts';

interface SliceAttributes {
  readonly starts: Dim[];
  readonly ends: Dim[];
  readonly steps: number[];
}

/** A slice of everything. Of a symbolic axis it goes to a number that no axis reaches. */
export function wholeSlice(shape: readonly Dim[]): SliceAttributes {
  return {
    starts: shape.map(() => 0),
    ends: shape.map((dim) => (typeof dim === 'number' ? dim : MAX_DIMENSION)),
    steps: shape.map(() => 1),
  };
}
