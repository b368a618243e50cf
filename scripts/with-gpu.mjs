// Runs a command in which Dawn in Node finds Chromium's SwiftShader, unless a Vulkan driver was
// chosen already: `node scripts/with-gpu.mjs [--set-up] COMMAND [ARGS]`. The library path has to be in the
// environment before the process starts, which is why this is a wrapper. `--set-up` installs what is
// missing first: dependencies and a Chromium.
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findSwiftShader } from './find-chromium.mjs';
import { installChromium } from './install-chromium.mjs';
import { installDependencies } from './install-dependencies.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const words = process.argv.slice(2);
if (words[0] === '--set-up') {
  words.shift();
  if (!installDependencies(root)) process.exit(1);
  installChromium(root);
}
const env = { ...process.env };
const folder = findSwiftShader();
if (
  folder !== undefined &&
  env.VK_ICD_FILENAMES === undefined &&
  env.VK_DRIVER_FILES === undefined
) {
  env.VK_ICD_FILENAMES = join(folder, 'vk_swiftshader_icd.json');
  env.LD_LIBRARY_PATH = [folder, env.LD_LIBRARY_PATH].filter(Boolean).join(delimiter);
}
// Layers of Vulkan complain where it is not set.
env.XDG_RUNTIME_DIR ??= tmpdir();
env.PATH = [join(root, 'node_modules/.bin'), env.PATH].join(delimiter);

const [command, ...args] = words;
const child = spawn(command === 'node' ? process.execPath : command, args, {
  stdio: 'inherit',
  env,
  shell: process.platform === 'win32',
});
for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => child.kill(signal));
child.on('error', (error) => {
  console.error(`cannot run ${command}: ${error.message}`);
  process.exit(1);
});
child.on('exit', (code, signal) => process.exit(signal === null ? (code ?? 1) : 1));
