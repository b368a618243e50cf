import type { Box } from '../results/boxes.ts';

/** Pieces are in one row if their middles are nearer to each other than this share of the lower one. */
const SHARE = 0.5;

/** Pieces of text row by row, from the left: for each row the pieces in it. */
export function rowsOf<Piece extends { readonly box: Box }>(pieces: readonly Piece[]): Piece[][] {
  const rows: Piece[][] = [];
  for (const piece of pieces.toSorted((a, b) => middle(a) - middle(b))) {
    const row = rows.at(-1);
    const last = row?.at(-1);
    if (row !== undefined && last !== undefined && isBeside(last, piece)) row.push(piece);
    else rows.push([piece]);
  }
  return rows.map((row) => row.toSorted((a, b) => a.box.left - b.box.left));
}

/** Pieces of a row that are nearer to each other than this share of their height are one line: a wide blank had cut it. */
const BLANK = 0.5;

/** The pieces of a row as lines: for each the pieces in it. */
export function linesOf<Piece extends { readonly box: Box }>(row: readonly Piece[]): Piece[][] {
  const lines: Piece[][] = [];
  for (const piece of row) {
    const last = lines.at(-1)?.at(-1);
    const gap = last === undefined ? 0 : piece.box.left - last.box.left - last.box.width;
    if (last !== undefined && gap < BLANK * Math.min(last.box.height, piece.box.height)) {
      lines.at(-1)?.push(piece);
    } else lines.push([piece]);
  }
  return lines;
}

const middle = ({ box }: { readonly box: Box }): number => box.top + box.height / 2;

function isBeside(a: { readonly box: Box }, b: { readonly box: Box }): boolean {
  return middle(b) - middle(a) < SHARE * Math.min(a.box.height, b.box.height);
}
