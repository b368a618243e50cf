import { expect, test } from 'vitest';
import { stripWgsl } from './minify-wgsl.ts';

test('stripWgsl drops comments, indentation and blank lines, and nothing else', () => {
  const source = `// The head.
const A = 4u; // four

/* a block /* nested */ still a comment */
fn f(x: f32) -> f32 {
  let y = x / 2.0/* in between */* 3.0;
\treturn y;
}
// no newline at the end`;
  expect(stripWgsl(source)).toMatchInlineSnapshot(`
    "const A = 4u;
    fn f(x: f32) -> f32 {
    let y = x / 2.0 * 3.0;
    return y;
    }"
  `);
  expect(stripWgsl(stripWgsl(source))).toBe(stripWgsl(source));
});
