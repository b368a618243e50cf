import type { TiledVariant } from './matmul-variant.ts';
import { blockLoads, type LoadForm, unroll } from './register-tile.ts';

/** WGSL of `left_block`, `right_block`, `Sums`, `add_step` and `store_sums` for `matmul-tiled.wgsl`. */
export function workgroupTileSource({ vectors, a, b }: TiledVariant): string {
  const rows = vectors * 4;
  const at = (side: string, size: string, lane: string, i: number) => {
    const place = i === 0 ? lane : `${lane} + PANEL_${size} / 2u`;
    return `${side}_tile[buffer * ${side.toUpperCase()}_SIZE + step * PANEL_${size} + swizzled(${place}, quad)]`;
  };
  const sum = (i: number) =>
    unroll(vectors, (v) => `  (*sums)[${i * vectors + v}] += left${i >> 2}[${i & 3}] * right${v};`);
  return `alias Sums = array<Element4, ${rows * vectors}>;
${blockFunction('left', 'a', a)}
${blockFunction('right', 'b', b)}
fn add_step(sums: ptr<function, Sums>, local: vec3<u32>, buffer: u32, step: u32) {
  let quad = step / 4u;
${unroll(vectors, (i) => `  let left${i} = ${at('left', 'ROWS', 'local.y', i)};`)}
${unroll(vectors, (i) => `  let right${i} = ${at('right', 'COLUMNS', 'local.x', i)};`)}
${unroll(rows, sum)}
}
fn store_sums(sums: ptr<function, Sums>, origin: vec2<u32>, local: vec3<u32>, layer: u32) {
  // A copy, since what is indexed by variables does not stay in registers.
  var copy = Sums(${unroll(rows * vectors, (i) => `(*sums)[${i}]`, ', ')});
  for (var i = 0u; i < ${rows * vectors}u; i++) {
    let row = local.y + i / ${vectors * 4}u * (PANEL_ROWS / 2u);
    let column = local.x + i % ${vectors}u * (PANEL_COLUMNS / 2u);
    let at = origin + vec2<u32>(row * 4u + i / ${vectors}u % 4u, column * 4u);
    store_four(at.x, at.y, layer, copy[i]);
  }
}
`;
}

/** Rows and columns beyond the matrix repeat the last; steps of k beyond it are zero. */
function blockFunction(side: 'left' | 'right', hook: 'a' | 'b', form: LoadForm): string {
  const [count, stride] = hook === 'a' ? ['m', 'a_row'] : ['n', 'b_column'];
  const start = (q: number) =>
    form === 'across'
      ? `(start + min(across, params.${count} - 4u) * params.${stride}) / 4u`
      : `(start + min(across + ${q}u, params.${count} - 1u) * params.${stride})${form === 'depth' ? ' / 4u' : ''}`;
  const { lines, vectors } = blockLoads({
    name: hook,
    hook,
    form,
    start: (q) => `start${q}`,
    step: (j) => (j === 0 ? 'k' : `min(k + ${j}u, params.k - 1u)`),
  });
  const inside = (vector: string, j: number) =>
    j === 0 || form === 'depth' ? vector : `select(Element4(), ${vector}, k + ${j}u < params.k)`;
  return `fn ${side}_block(across: u32, k: u32, start: u32) -> Block {
${unroll(form === 'across' ? 1 : 4, (q) => `  let start${q} = ${start(q)};`)}
${lines}  return Block(
${vectors.map((vector, j) => `    ${inside(vector, j)},`).join('\n')}
  );
}`;
}
