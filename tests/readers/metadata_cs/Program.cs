// SPDX-License-Identifier: MIT
// What System.Reflection.Metadata finds in assemblies: MetadataList FILE ...
// Line for line what golden/metadata_list.c prints; nothing of ours is used.
using System;
using System.Collections.Generic;
using System.Collections.Immutable;
using System.IO;
using System.Linq;
using System.Reflection;
using System.Reflection.Metadata;
using System.Reflection.Metadata.Ecma335;
using System.Reflection.PortableExecutable;
using System.Text;

var output = new StreamWriter(Console.OpenStandardOutput(), new UTF8Encoding(false)) { NewLine = "\n" };
foreach (var path in args)
{
    using var image = new PEReader(File.OpenRead(path));
    output.WriteLine($"file {Path.GetFileName(path)}");
    if (!image.HasMetadata)
        output.WriteLine("no metadata");
    else
        new Listing(image.GetMetadataReader(), output).Print(image);
}
output.Flush();

// The type parameters that VAR elements refer to.
sealed record Context(string[] Parameters);

sealed class Listing(MetadataReader reader, TextWriter output) : ISignatureTypeProvider<TypeName, Context>
{
    public void Print(PEReader image)
    {
        PrintModule(image);
        foreach (var handle in reader.TypeDefinitions)
            PrintType(handle);
        foreach (var handle in reader.TypeDefinitions)
            foreach (var field in reader.GetTypeDefinition(handle).GetFields())
                PrintStatic(handle, field);
    }

    void PrintModule(PEReader image)
    {
        var module = reader.GetModuleDefinition();
        output.WriteLine($"module {reader.GetString(module.Name)} {Hex(reader.GetGuid(module.Mvid).ToByteArray())}");
        if (reader.IsAssembly)
        {
            var assembly = reader.GetAssemblyDefinition();
            output.WriteLine($"assembly {reader.GetString(assembly.Name)} {assembly.Version} {Hex(assembly.GetAssemblyName().GetPublicKeyToken() ?? [])}");
        }
        foreach (var entry in image.ReadDebugDirectory().Where(e => e.Type == DebugDirectoryEntryType.CodeView))
        {
            var data = image.ReadCodeViewDebugDirectoryData(entry);
            output.WriteLine($"codeview {Hex(data.Guid.ToByteArray())} {data.Age}");
        }
    }

    void PrintType(TypeDefinitionHandle handle)
    {
        var type = reader.GetTypeDefinition(handle);
        var context = new Context(Parameters(type));
        string NameOf(EntityHandle h) => h.IsNil ? "" : Name(h, h.Kind == HandleKind.TypeSpecification ? new Context([]) : context, true);
        var outer = type.GetDeclaringType();
        output.WriteLine($"type {MetadataTokens.GetToken(handle):x8} {(uint)type.Attributes:x} {(outer.IsNil ? 0 : MetadataTokens.GetToken(outer)):x8} "
                         + $"{type.GetGenericParameters().Count} {Name(handle, context, true)} : {NameOf(type.BaseType)}"
                         + string.Concat(type.GetInterfaceImplementations().Select(i => ", " + NameOf(reader.GetInterfaceImplementation(i).Interface))));
        if (Events(handle) is { Length: > 0 } events)
            output.WriteLine($"events {MetadataTokens.GetToken(handle):x8} {events}");
    }

    // Events with fields, of the class and of those of this module that it is derived from.
    string Events(TypeDefinitionHandle handle)
    {
        var text = new StringBuilder();
        EntityHandle at = handle;
        while (at.Kind == HandleKind.TypeDefinition && !at.IsNil)
        {
            var type = reader.GetTypeDefinition((TypeDefinitionHandle)at);
            var names = type.GetEvents().Select(e => reader.GetString(reader.GetEventDefinition(e).Name)).ToHashSet();
            string FieldName(string field) => !names.Contains(field) && field.EndsWith("Event") && names.Contains(field[..^5]) ? field[..^5] + "/Event" : field;
            var fields = type.GetFields().Select(reader.GetFieldDefinition).Where(f => (f.Attributes & FieldAttributes.Static) == 0)
                .Select(f => (Name: FieldName(reader.GetString(f.Name)), Class: ClassOf(reader.GetBlobReader(f.Signature), 1))).Where(f => !f.Class.IsNil).ToList();
            bool IsEvent(string field) => names.Contains(field) || field.EndsWith("/Event");
            var events = fields.Where(f => IsEvent(f.Name)).ToList();
            var delegates = events.Select(e => e.Class).ToHashSet();
            foreach (var (name, holds) in events.Concat(fields.Where(f => !IsEvent(f.Name) && delegates.Contains(f.Class))))
                text.Append($"{name} {ReflectionName(holds)};");
            at = type.BaseType.Kind == HandleKind.TypeSpecification && !type.BaseType.IsNil
                ? ClassOf(reader.GetBlobReader(reader.GetTypeSpecification((TypeSpecificationHandle)type.BaseType).Signature), 0) : type.BaseType;
        }
        return text + (text.Length > 0 && !at.IsNil && ReflectionName(at) != "System.Object" ? "?" : "");
    }

    // The class at the beginning of a signature, behind SKIP bytes; of a generic one its definition.
    static EntityHandle ClassOf(BlobReader signature, int skip)
    {
        signature.Offset = skip;
        var code = signature.ReadByte();
        while (code is 0x1f or 0x20)
        {
            signature.ReadTypeHandle();
            code = signature.ReadByte();
        }
        if (code == 0x15)
            code = signature.ReadByte();
        return code == 0x12 ? signature.ReadTypeHandle() : default;
    }

    string ReflectionName(EntityHandle handle)
    {
        var (outer, space, name) = (default(EntityHandle), default(StringHandle), default(StringHandle));
        if (handle.Kind == HandleKind.TypeDefinition)
        {
            var type = reader.GetTypeDefinition((TypeDefinitionHandle)handle);
            (outer, space, name) = (type.GetDeclaringType(), type.Namespace, type.Name);
        }
        else
        {
            var type = reader.GetTypeReference((TypeReferenceHandle)handle);
            (outer, space, name) = (type.ResolutionScope.Kind == HandleKind.TypeReference ? type.ResolutionScope : default, type.Namespace, type.Name);
        }
        var before = !outer.IsNil ? ReflectionName(outer) + "+" : reader.GetString(space) is { Length: > 0 } s ? s + "." : "";
        return before + reader.GetString(name);
    }

    void PrintStatic(TypeDefinitionHandle handle, FieldDefinitionHandle fieldHandle)
    {
        var field = reader.GetFieldDefinition(fieldHandle);
        if ((field.Attributes & FieldAttributes.Static) == 0 || (field.Attributes & FieldAttributes.Literal) != 0)
            return;
        var context = new Context(Parameters(reader.GetTypeDefinition(handle)));
        output.WriteLine($"static {MetadataTokens.GetToken(fieldHandle):x8} {(uint)field.Attributes:x} {MetadataTokens.GetToken(handle):x8} "
                         + $"{reader.GetString(field.Name)} {(IsThreadStatic(field) ? "thread " : "")}{field.DecodeSignature(this, context)}");
    }

    bool IsThreadStatic(FieldDefinition field) => field.GetCustomAttributes().Any(h =>
    {
        var constructor = reader.GetCustomAttribute(h).Constructor;
        EntityHandle type = constructor.Kind == HandleKind.MethodDefinition
            ? reader.GetMethodDefinition((MethodDefinitionHandle)constructor).GetDeclaringType()
            : reader.GetMemberReference((MemberReferenceHandle)constructor).Parent;
        return type.Kind switch
        {
            HandleKind.TypeDefinition => Is(reader.GetTypeDefinition((TypeDefinitionHandle)type).Namespace, reader.GetTypeDefinition((TypeDefinitionHandle)type).Name),
            HandleKind.TypeReference => Is(reader.GetTypeReference((TypeReferenceHandle)type).Namespace, reader.GetTypeReference((TypeReferenceHandle)type).Name),
            _ => false,
        };
        bool Is(StringHandle space, StringHandle name) => reader.GetString(space) == "System" && reader.GetString(name) == "ThreadStaticAttribute";
    });

    string[] Parameters(TypeDefinition type) =>
        type.GetGenericParameters().Select(p => reader.GetString(reader.GetGenericParameter(p).Name)).ToArray();

    string Name(EntityHandle handle, Context context, bool open) => (handle.Kind switch
    {
        HandleKind.TypeDefinition => Definition((TypeDefinitionHandle)handle, open),
        HandleKind.TypeReference => Reference((TypeReferenceHandle)handle),
        _ => reader.GetTypeSpecification((TypeSpecificationHandle)handle).DecodeSignature(this, context),
    }).ToString();

    // A definition; open: with the names of its parameters.
    TypeName Definition(TypeDefinitionHandle handle, bool open)
    {
        var parts = new List<TypePart>();
        for (var h = handle; !h.IsNil; h = reader.GetTypeDefinition(h).GetDeclaringType())
        {
            var type = reader.GetTypeDefinition(h);
            var outer = type.GetDeclaringType();
            var above = outer.IsNil ? 0 : reader.GetTypeDefinition(outer).GetGenericParameters().Count;
            var space = outer.IsNil ? reader.GetString(type.Namespace) : "";
            parts.Insert(0, new TypePart(space, reader.GetString(type.Name), type.GetGenericParameters().Count - above));
        }
        var name = new TypeName(parts, [], "");
        return open ? name.With(Parameters(reader.GetTypeDefinition(handle))) : name;
    }

    TypeName Reference(TypeReferenceHandle handle)
    {
        var parts = new List<TypePart>();
        EntityHandle h = handle;
        while (h.Kind == HandleKind.TypeReference)
        {
            var type = reader.GetTypeReference((TypeReferenceHandle)h);
            var name = reader.GetString(type.Name);
            var mark = name.LastIndexOf('`');
            parts.Insert(0, new TypePart(type.ResolutionScope.Kind == HandleKind.TypeReference ? "" : reader.GetString(type.Namespace), name,
                                         mark > 0 && int.TryParse(name[(mark + 1)..], out var n) ? n : 0));
            h = type.ResolutionScope;
        }
        return new TypeName(parts, [], "");
    }

    static string Hex(byte[] bytes) => Convert.ToHexString(bytes).ToLowerInvariant();

    public TypeName GetTypeFromDefinition(MetadataReader r, TypeDefinitionHandle handle, byte kind) => Definition(handle, false);
    public TypeName GetTypeFromReference(MetadataReader r, TypeReferenceHandle handle, byte kind) => Reference(handle);
    public TypeName GetTypeFromSpecification(MetadataReader r, Context c, TypeSpecificationHandle handle, byte kind) =>
        reader.GetTypeSpecification(handle).DecodeSignature(this, c);
    public TypeName GetPrimitiveType(PrimitiveTypeCode code) => TypeName.Simple("System." + code);
    public TypeName GetGenericInstantiation(TypeName type, ImmutableArray<TypeName> arguments) => type.With(arguments.Select(a => a.ToString()).ToArray());
    public TypeName GetGenericTypeParameter(Context c, int index) => TypeName.Simple(index < c.Parameters.Length ? c.Parameters[index] : "!" + index);
    public TypeName GetGenericMethodParameter(Context c, int index) => TypeName.Simple("!!" + index);
    public TypeName GetSZArrayType(TypeName element) => element.Array("[]");
    public TypeName GetArrayType(TypeName element, ArrayShape shape) => element.Array(shape.Rank == 1 ? "[*]" : "[" + new string(',', shape.Rank - 1) + "]");
    public TypeName GetPointerType(TypeName element) => TypeName.Simple(element + "*");
    public TypeName GetByReferenceType(TypeName element) => TypeName.Simple(element + "&");
    public TypeName GetFunctionPointerType(MethodSignature<TypeName> signature) => TypeName.Simple("FNPTR");
    public TypeName GetModifiedType(TypeName modifier, TypeName type, bool required) => type;
    public TypeName GetPinnedType(TypeName element) => element;
}

// Adds: how many type parameters it has more than the type around it.
sealed record TypePart(string Space, string Name, int Adds);

// C# writes the outermost dimension of arrays of arrays first: each further one goes in front of Dimensions.
sealed record TypeName(List<TypePart> Parts, string[] Arguments, string Dimensions)
{
    public static TypeName Simple(string name) => new([new TypePart("", name, 0)], [], "");
    public TypeName With(string[] arguments) => this with { Arguments = arguments };
    public TypeName Array(string dimension) => this with { Dimensions = dimension + Dimensions };

    public override string ToString()
    {
        var text = new StringBuilder();
        var given = 0;
        foreach (var part in Parts)
        {
            text.Append(text.Length > 0 ? "." : part.Space.Length > 0 ? part.Space + "." : "");
            var takes = Math.Min(part.Adds, Arguments.Length - given);
            if (ReferenceEquals(part, Parts[^1]))
                takes = Arguments.Length - given;
            var mark = "`" + takes;
            text.Append(takes > 0 && part.Name.EndsWith(mark) ? part.Name[..^mark.Length] : part.Name);
            if (takes > 0)
                text.Append('<').AppendJoin(", ", Arguments.Skip(given).Take(takes)).Append('>');
            given += takes;
        }
        return text + Dimensions;
    }
}
