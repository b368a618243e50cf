import { expect, test } from 'vitest';
import { codeLines, describeSource, layOut } from './code-lines.ts';

const part = { label: 'matmul_direct', code: 'fn main() {}\n', workgroups: [4, 1, 1] } as const;

test('parts stand below each other, under their names', () => {
  const source = {
    kernel: 'k',
    language: 'wgsl',
    sizes: 'latest',
    shapes: [[3, 8], []],
    parts: [part, { ...part, label: 'reduce' }],
  } as const;
  expect(describeSource(source)).toBe(
    'WGSL, 2 launches, for the sizes of the latest call: (3, 8) ().',
  );
  expect(codeLines(source).map(({ text }) => text)).toEqual([
    '// 1. matmul_direct, 4 x 1 x 1 workgroups',
    'fn main() {}',
    '',
    '// 2. reduce, 4 x 1 x 1 workgroups',
    'fn main() {}',
  ]);
  expect(describeSource({ ...source, parts: [] })).toMatch(/^Nothing runs/);
});

test('code without white space gets lines, other code keeps its own', () => {
  const code = `fn f(a:u32)->u32{for(var i=0u;i<4u;i++){if(i>2u){return i;}else{continue;}}return ${'a+'.repeat(80)}a;}struct S{a:u32}`;
  expect(layOut(code)).toBe(
    [
      'fn f(a:u32)->u32{',
      '  for(var i=0u;i<4u;i++){',
      '    if(i>2u){',
      '      return i;',
      '    }',
      '    else{',
      '      continue;',
      '    }',
      '  }',
      `  return ${'a+'.repeat(80)}a;`,
      '}',
      'struct S{',
      '  a:u32',
      '}',
      '',
    ].join('\n'),
  );
  expect(layOut('a {\n   b; c }\n')).toBe('a {\n   b; c }\n');
});
