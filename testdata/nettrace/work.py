"""Sorts, matches and multiplies in .NET, from Python."""
import glob, sys, time, dotnetcore2, os
from clr_loader import get_coreclr
from pythonnet import set_runtime
config = '/tmp/app.runtimeconfig.json'
open(config, 'w').write('{"runtimeOptions":{"tfm":"netcoreapp3.1","framework":{"name":"Microsoft.NETCore.App","version":"3.1.0"}}}')
set_runtime(get_coreclr(runtime_config=config, dotnet_root=os.path.dirname(dotnetcore2.__file__) + '/bin'))
import clr
clr.AddReference('System.Text.RegularExpressions'); clr.AddReference('System.Runtime.Numerics')
from System import Array, Int32
from System.Numerics import BigInteger
from System.Text.RegularExpressions import Regex
print('ready', flush=True)
end = time.time() + float(sys.argv[1])
while time.time() < end:
    Array.Sort(Array[Int32]([i * 7919 % 100003 for i in range(3000)]))
    Regex('(a|b)*c[0-9]+$').IsMatch('abab' * 2000 + 'x')
    BigInteger.Pow(BigInteger(12345), 3000).ToString()
