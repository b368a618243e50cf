/**
 * The rows of a matrix, or the elements of a vector, with the pairs of each head in halves: row i of a head and
 * row i + half make a pair, where rows 2i and 2i + 1 did. A whole row moves, so that blocks stay as they are.
 */
export function halvedPairs(
  bytes: Uint8Array,
  { rows, heads }: { readonly rows: number; readonly heads: number },
): Uint8Array {
  const rowBytes = bytes.byteLength / rows;
  const height = rows / heads;
  const moved = new Uint8Array(bytes.byteLength);
  for (let row = 0; row < rows; row++) {
    const place = row % height;
    const target = row - place + Math.floor(place / 2) + (place % 2) * (height / 2);
    moved.set(bytes.subarray(row * rowBytes, (row + 1) * rowBytes), target * rowBytes);
  }
  return moved;
}
