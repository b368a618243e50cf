/** Package entry `weft-vm/rpc`: devices of other pages, workers and processes. */
export { Executable } from '../bytecode/file/executable-file.ts';
export { HostTensor } from '../core/tensor/host-tensor.ts';
export { DTypeValue, FloatValue, ShapeValue } from '../runtime/values/value.ts';
export type { SessionProvider } from '../worker/protocol/session-service.ts';
export { BaseChannel, type Channel, type ChannelListener, type Frame } from './channels/channel.ts';
export {
  connect,
  type ConnectOptions,
  findDevice,
  Remote,
  type RemoteLoadOptions,
} from './connect.ts';
export { AccessError, LimitError, ProtocolError, RemoteLostError } from './errors.ts';
export { type ExecutableSource, ExecutableStore, type ShipProgress } from './executable-store.ts';
export { createToken } from './handshake/create-token.ts';
export { deriveRelayToken } from './handshake/credentials.ts';
export type { RemoteDevice, RemoteFunctionInfo } from './device-service.ts';
export { DEFAULT_RPC_LIMITS, type RpcLimits } from './limits.ts';
export { linkRemote } from './link-remote.ts';
export { messagePortChannel, type PortLike } from './channels/message-port-channel.ts';
export { type CallOptions, type RemoteFunction, RemoteTensor } from './values/remote-handles.ts';
export { RemoteModule } from './remote-module.ts';
export {
  type RpcFunction,
  type PlainValue,
  type RpcInput,
  RpcTuple,
  type RpcValue,
  type TensorHandle,
} from './values/rpc-value.ts';
export type { ServedDevice, ServeEvent, WorkEvent } from './served-device.ts';
export { serve, type Served, type ServeOptions } from './serve.ts';
export { type RelayedServing, serveRelay, type ServeRelayOptions } from './serve-relay.ts';
export type { TimeOptions, TimeResult } from './time-evaluator.ts';
export { openWebSocket, type SocketLike, webSocketChannel } from './channels/web-socket-channel.ts';
