import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { availableParallelism } from 'node:os';
import { dirname, join } from 'node:path';
import { runNode } from './run.mjs';

/** Folders of `node_modules`: one version each. */
const COMPILERS = [
  'typescript-5.7',
  'typescript-5.8',
  'typescript-5.9',
  'typescript',
  'typescript-7',
];

/** Uses every entry; the lines that expect an error tell that types are not `any` in the end. */
const USE = `
import { configureWorker, DeviceTensor, type LoadOptions, Session, Tensor, WeftError } from 'weft-vm';
import { compile, parseModule } from 'weft-vm/compiler';
import { ExecBuilder, Executable } from 'weft-vm/executable';
import { folderStore } from 'weft-vm/node';
import { connect, type Remote } from 'weft-vm/rpc';
import { Fleet, openNats } from 'weft-vm/rpc/nats';
import { Session as StaticSession } from 'weft-vm/static';
import { imageClassifier } from 'weft-vm/static/tasks';
import { TextModel } from 'weft-vm/static/text';
import { operatorConformance } from 'weft-vm/testing';
import { FunctionProfile, HostTensor, VirtualMachine } from 'weft-vm/vm';
import { createDevice, serve } from 'weft-vm/worker';

export const options: LoadOptions = { device: 'host', gpu: { requestAdapter: async () => null } };
// @ts-expect-error: a device that does not exist
export const wrong: LoadOptions = { device: 'cuda' };
// @ts-expect-error: a gpu without adapters
configureWorker({ gpu: {} });

export async function run(): Promise<number> {
  const session = await Session.load('/model.weft', options);
  const { y } = await session.run({ x: Tensor.from([[1, 2]]) });
  if (y instanceof DeviceTensor) y.dispose();
  const disposed: Promise<void> = session[Symbol.asyncDispose]();
  await disposed;
  await Session.resume(new Uint8Array(), { executable: '/model.weft' });
  return y instanceof Tensor ? y.shape.length : 0;
}

export async function machine(): Promise<VirtualMachine> {
  const executable: Executable = compile(parseModule('def @main(%x: int) { %x }'));
  const devices = [await createDevice('host')];
  const instrument = new FunctionProfile();
  console.log(operatorConformance.name, StaticSession.name, TextModel.name, imageClassifier.name);
  const vm = await VirtualMachine.create(executable, { devices, instrument });
  await vm.get('main')(new HostTensor('float32', [1], new Float32Array(1)));
  return VirtualMachine.create(new ExecBuilder().build(), { devices });
}

export async function lend(): Promise<Remote> {
  const fleet = new Fleet(await openNats('wss://localhost:9222'), { token: 'token' });
  console.log(fleet, await folderStore('snapshots'), WeftError.name);
  serve({ functions: { 'demo.square': (n: number) => n * n } });
  return connect('ws://localhost:9190', { token: 'token', key: 'desk' });
}
`;

/** For projects that have the library of disposal and the types of WebGPU. */
const USE_OF_MORE = `
import { configureWorker, Session } from 'weft-vm';

export async function run(): Promise<void> {
  configureWorker({ worker: false, gpu: navigator.gpu });
  await using session = await Session.load('/model.weft', { gpu: navigator.gpu });
  await session.run({});
}
`;

/** Complaints of each compiler about the declarations, with everything checked. */
export async function checkDeclarations({ folder, tools }) {
  writeFileSync(join(folder, 'use.ts'), USE);
  writeFileSync(join(folder, 'use-of-more.ts'), USE_OF_MORE);
  const pending = COMPILERS.flatMap((name) => {
    const compiler = join(tools, 'node_modules', name);
    return projectsOf(compiler, tools).map((project) => ({ compiler, ...project }));
  });
  const complaints = [];
  const work = async () => {
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const complaint = await compile(next, folder);
      if (complaint !== undefined) complaints.push(complaint);
    }
  };
  await Promise.all(Array.from({ length: availableParallelism() }, work));
  return complaints;
}

/** Projects of strangers: one with the least, under each resolution, and one that has it all. */
function projectsOf(compiler, tools) {
  const least = { lib: ['es2022', 'dom'], files: ['use.ts'] };
  const dom = readFileSync(join(libraryOf(compiler), 'lib.dom.d.ts'), 'utf8');
  // Later compilers know WebGPU by themselves.
  const types = join(tools, 'node_modules/@webgpu/types/dist/index.d.ts');
  const webgpu = dom.includes('interface GPUDevice ') ? [] : [types];
  return [
    { title: 'es2022 and dom, bundler', resolution: 'bundler', ...least },
    { title: 'es2022 and dom, nodenext', resolution: 'nodenext', ...least },
    {
      title: 'disposal and WebGPU, bundler',
      resolution: 'bundler',
      lib: ['es2022', 'esnext.disposable', 'dom'],
      files: ['use.ts', 'use-of-more.ts', ...webgpu],
    },
  ];
}

/** Where a compiler has its declarations: beside its executable, which is a package of its own since 7. */
function libraryOf(compiler) {
  const library = join(compiler, 'lib');
  if (existsSync(join(library, 'lib.dom.d.ts'))) return library;
  const require = createRequire(join(compiler, 'package.json'));
  const platform = `@typescript/typescript-${process.platform}-${process.arch}`;
  return join(dirname(require.resolve(`${platform}/package.json`)), 'lib');
}

async function compile({ compiler, title, resolution, lib, files }, folder) {
  const { version } = JSON.parse(readFileSync(join(compiler, 'package.json'), 'utf8'));
  const project = join(folder, `tsconfig-${version}-${title.replaceAll(/\W+/g, '-')}.json`);
  writeFileSync(project, JSON.stringify({ compilerOptions: optionsOf(lib, resolution), files }));
  const { isGood, output } = await runNode([join(compiler, 'bin/tsc'), '-p', project]);
  console.log(`TypeScript ${version}, ${title}: ${isGood ? 'passed' : 'FAILED'}`);
  if (isGood) return undefined;
  return `TypeScript ${version}, ${title}:\n${output.split('\n').slice(0, 10).join('\n')}`;
}

function optionsOf(lib, moduleResolution) {
  return {
    target: 'es2022',
    module: moduleResolution === 'bundler' ? 'esnext' : moduleResolution,
    moduleResolution,
    lib,
    types: [],
    strict: true,
    exactOptionalPropertyTypes: true,
    skipLibCheck: false,
    noEmit: true,
  };
}
