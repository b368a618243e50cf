import { expect, test } from 'vitest';
import { shrinkTemplates, shrinkWgsl } from './minify-wgsl.ts';

test('shrinkWgsl renames what functions declare, and drops comments and white space', () => {
  const source = `// The head.
const size = 4u; // four

/* a block /* nested */ still a comment */
fn half_of(value: f32, index: u32,) -> f32 {
  let doubled = value / 2.0/* in between */* 0.50;
\tvar sum: vec2<f32> = vec2<f32>(doubled, - -value);
  for (var i = 0u; i < size; i++) { sum.x += sum.y + f32(params.index * index); }
  return select(sum.x, 1.5e-3, sum.y >= 1e10f);
}

@compute @workgroup_size(8)
fn main(@builtin(workgroup_id) workgroup_id: vec3<u32>) {
  let size_of_half = &half;
  store(workgroup_id.x, half_of(s, size), v & ~1u);
}
// no newline at the end`;
  expect(shrinkWgsl(source)).toMatchInlineSnapshot(
    `"const size=4u;fn half_of(v:f32,i:u32)->f32{let d=v/2.*.50;var s:vec2f=vec2f(d,- -v);for(var a=0u;a<size;a++){s.x+=s.y+f32(params.index*i);}return select(s.x,1.5e-3,s.y>=1e10f);}@compute@workgroup_size(8)fn main(@builtin(workgroup_id)w:vec3u){let i= &half;store(w.x,half_of(s,size),v&~1u);}"`,
  );
  expect(shrinkWgsl(shrinkWgsl(source))).toBe(shrinkWgsl(source));
});

test('shrinkWgsl leaves a name that is declared nowhere but outside', () => {
  const hooks = 'fn load(place: u32) -> f32 { return a[place] + p * load_b(place); }';
  expect(shrinkWgsl(hooks)).toBe('fn load(l:u32)->f32{return a[l]+p*load_b(l);}');
});

test('shrinkTemplates shrinks WGSL in templates, and keeps space beside what may be any text', () => {
  const source = `const whole = \`fn half_of(value: f32) -> f32 {
  let rest = value - -1.0;
  return rest / 2.0;
}\`;
const part = (sign: string, type: string, lines: string[]) => \`fn of_\${type}(x: \${type}) -> bool {
  \${lines.map((line) => \`var y = \${line} & \${sign} ;\n\`).join('\\n')}
  return x \${sign} \${type}( 1 ) || y;\\n}\`;
const message = \`\${part} has no \${type}, which  is needed\`;
const name = \`\${message} - \${part}\`;
`;
  expect(shrinkTemplates(source, 'half.ts')).toMatchInlineSnapshot(`
    "const whole = \`fn half_of(v:f32)->f32{let r=v- -1.;return r/2.;}\`;
    const part = (sign: string, type: string, lines: string[]) => \`fn of_\${type}(x:\${type})->bool{\${lines.map((line) => \`var y=\${line}& \${sign};\`).join('\\n')} return x \${sign} \${type}(1)||y;}\`;
    const message = \`\${part} has no \${type}, which  is needed\`;
    const name = \`\${message} - \${part}\`;
    "
  `);
});
