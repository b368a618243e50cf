import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { testCommand } from './testing/test-command.ts';

const script = async (shell: string) => (await testCommand('/none', ['completion', shell])).out;

/** The completions that bash offers for the last of these words. */
async function offered(...words: string[]): Promise<string[]> {
  const list = words.map((word) => `'${word}'`).join(' ');
  const program = `${await script('bash')}
COMP_WORDS=(${list}); COMP_CWORD=${words.length - 1}; _weft
printf '%s\\n' "\${COMPREPLY[@]}"`;
  const out = execFileSync('bash', ['-c', program], { encoding: 'utf8', cwd: import.meta.dirname });
  return out.split('\n').filter((line) => line !== '');
}

test('bash completes commands, options, their values and files', async () => {
  expect(await offered('weft', 'comp')).toEqual(['compile', 'compare', 'completion']);
  expect(await offered('weft', 'run', '--dev')).toEqual(['--device']);
  expect(await offered('weft', 'run', '--device', 'w')).toEqual(['wasm', 'webgpu']);
  expect(await offered('weft', 'rpc', 'serve', '--na')).toEqual(
    expect.arrayContaining(['--nats', '--name']),
  );
  expect(await offered('weft', 'run', 'complete.te')).toEqual(['complete.test.ts']);
  expect(await offered('weft', 'compile', 'model.onnx', '-o', 'complete.te')).toEqual([
    'complete.test.ts',
  ]);
});

test('each shell has a line for each command', async () => {
  const commands = [
    'compile',
    'run',
    'inspect',
    'opt',
    'check',
    'bench',
    'serve',
    'compare',
    'quantize',
    'grad',
    'rpc',
  ];
  for (const shell of ['bash', 'zsh', 'fish']) {
    const text = await script(shell);
    for (const command of commands) expect(text).toContain(command);
    expect(text).toContain('Completion of weft');
    expect(text).toContain('kernel-source');
  }
  expect(await script('zsh')).toContain("'*--device[the device to run on]:value:(");
  expect(await script('fish')).toContain(
    "complete -c weft -n '__fish_seen_subcommand_from run' -l device -x -a 'auto host wasm webgpu",
  );
});

test('an unknown shell is refused', async () => {
  const { status, err } = await testCommand('/none', ['completion', 'tcsh']);
  expect(status).toBe(2);
  expect(err).toContain('Allowed choices are bash, zsh, fish.');
});
