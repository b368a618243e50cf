import { expect, test } from 'vitest';
import { shrinkWgsl } from './minify-wgsl.ts';

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
  expect(shrinkWgsl(source)).toMatchInlineSnapshot(`
    "const size=4u;
    fn half_of(v:f32,i:u32)->f32{
    let d=v/2.*.50;
    var s:vec2<f32> =vec2<f32>(d,- -v);
    for(var a=0u;
    a<size;
    a++){
    s.x+=s.y+f32(params.index*i);
    }
    return select(s.x,1.5e-3,s.y>=1e10f);
    }
    @compute@workgroup_size(8)fn main(@builtin(workgroup_id)w:vec3<u32>){
    let i= &half;
    store(w.x,half_of(s,size),v&~1u);
    }"
  `);
  expect(shrinkWgsl(shrinkWgsl(source))).toBe(shrinkWgsl(source));
});

test('shrinkWgsl leaves a name that is declared nowhere but outside', () => {
  const hooks = 'fn load(place: u32) -> f32 { return a[place] + p * load_b(place); }';
  expect(shrinkWgsl(hooks)).toBe('fn load(l:u32)->f32{\nreturn a[l]+p*load_b(l);\n}');
});
