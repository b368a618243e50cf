import { expect, test } from 'vitest';
import { Executable } from '../bytecode/file/executable-file.ts';
import { createHostDevice } from '../device/host/host-device.ts';
import { OpaqueValue } from '../core/contracts/opaque-value.ts';
import type { Value } from '../runtime/values/value.ts';
import { VirtualMachine } from '../runtime/virtual-machine.ts';
import { compile } from './compile.ts';
import { callFunction, extern, func, global, moduleOf, variableOf } from './ir/build.ts';
import { moduleFromJson, moduleToJson } from './ir/json/json.ts';
import { parseModule } from './ir/text/parse.ts';
import { printModule } from './ir/text/print.ts';
import { equalModules } from './ir/walk/structural-equal.ts';
import { opaqueType } from './ir/type.ts';

const TEXT = `extern def @open(%k: int) -> Opaque[my.shelf]
extern def @count(%s: Opaque[my.shelf]) -> int
def @main(%k: int) {
  let %list: List[Opaque[my.shelf]] = Cons(@open(%k), Nil);
  match? (%list) { Cons(%s, _) => (%s, @count(%s)) }
}
def @use(%s: Opaque[my.shelf]) { @count(%s) }
`;

async function machineOf(open: (k: Value) => Value, text = TEXT): Promise<VirtualMachine> {
  return VirtualMachine.create(compile(parseModule(text), { verify: true }), {
    devices: [createHostDevice()],
    functions: { open, count: (s) => (s instanceof OpaqueValue ? Number(s.value) : -1) },
  });
}

test('opaque values pass through data, results and parameters', async () => {
  const vm = await machineOf((k) => new OpaqueValue('my.shelf', Number(k) + 1));
  const result = await vm.invoke('main', [4]);
  expect(result).toMatchObject({ fields: [{ kind: 'opaque', value: 5 }, 5] });
  expect(await vm.invoke('use', [new OpaqueValue('my.shelf', 7)])).toBe(7);
  await expect(vm.invoke('use', [new OpaqueValue('cursor', 7)])).rejects.toThrow(
    'use, parameter s: got opaque cursor, expected Opaque[my.shelf].',
  );
  vm.release(result);
});

test('one of another name is refused where it comes in', async () => {
  const vm = await machineOf(() => new OpaqueValue('cursor', 0));
  await expect(vm.invoke('main', [1])).rejects.toThrow(
    'ir:4:44, declared at ir:1:12: result of open: got opaque cursor, expected Opaque[my.shelf].',
  );
});

test('texts, JSON, listings and files keep the type', () => {
  const module = parseModule(TEXT);
  expect(printModule(module)).toContain('Opaque[my.shelf]');
  expect(equalModules(parseModule(printModule(module)), module)).toBe(true);
  const json = JSON.parse(JSON.stringify(moduleToJson(module))) as never;
  expect(equalModules(moduleFromJson(json), module)).toBe(true);
  const executable = compile(module);
  const { types } = Executable.fromBytes(executable.toBytes());
  expect(types).toEqual(executable.types);
  expect(types?.packed[0]?.result).toEqual({ kind: 'opaque', name: 'my.shelf' });
  expect(Executable.fromText(executable.toText()).types).toEqual(types);
});

test('the builder has it; other names of it are another type', () => {
  const k = variableOf('s', opaqueType('shelf'));
  const f = extern('f', [variableOf('s', opaqueType('cursor'))], opaqueType('cursor'));
  expect(() => compile(moduleOf({ f, main: func([k], callFunction(global('f'), [k])) }))).toThrow(
    'argument s: got Opaque[shelf], expected Opaque[cursor].',
  );
  expect(() => opaqueType('a b')).toThrow('opaqueType: got "a b", expected letters');
  expect(() => parseModule('def @main(%x: Opaque["a b"]) { %x }')).toThrow(
    'expected the name of an opaque type, such as database',
  );
});
