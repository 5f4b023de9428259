package ecs

import (
	"slices"
	"strings"

	"github.com/clbemu/clbemu/emulator/internal/gateway"
	"github.com/clbemu/clbemu/emulator/internal/gateway/listing"
	"github.com/clbemu/clbemu/emulator/internal/gateway/tagging"
	"github.com/clbemu/clbemu/state"
)

var imageActions = []gateway.Action{
	gateway.Read("DescribeImages", describeImages).Refusing(errImageOwnerUnknown, errStatusNotFound, errTooManyTags),
	gateway.Read("DescribeImageSupportInstanceTypes", describeImageSupportInstanceTypes),
}

// A struct tag names it.
var errImageOwnerUnknown = refusals.New("ImageOwnerUnknown", 404, "InvalidImageOwnerAlias.ValueNotSupported",
	"The specified ImageOwnerAlias is invalid.", "CLB-0380")

// images are the public images, without anything in them. Evidence CLB-0380.
var images = []imageView{
	newImage("aliyun_3_x64_20G_alibase_20250629.vhd", "acs:alibaba_cloud_linux_3_2104_lts_x64", "Aliyun", "Alibaba Cloud Linux  3.2104 LTS 64位", "Alibaba Cloud Linux  3.2104 LTS 64 bit", "2025-06-29T03:00:00Z"),
	newImage("centos_7_9_x64_20G_alibase_20240628.vhd", "acs:centos_7_9_x64", "CentOS", "CentOS  7.9 64位", "CentOS  7.9 64 bit", "2024-06-28T03:00:00Z"),
	newImage("debian_12_6_x64_20G_alibase_20240711.vhd", "acs:debian_12_6_x64", "Debian", "Debian  12.6 64位", "Debian  12.6 64 bit", "2024-07-11T03:00:00Z"),
	newImage("ubuntu_22_04_x64_20G_alibase_20250722.vhd", "acs:ubuntu_22_04_x64", "Ubuntu", "Ubuntu  22.04 64位", "Ubuntu  22.04 64 bit", "2025-07-22T03:00:00Z"),
}

type imageView struct {
	ImageID              string `rpc:"ImageId"`
	Name                 string `rpc:"ImageName"`
	Family               string `rpc:"ImageFamily"`
	OwnerAlias           string `rpc:"ImageOwnerAlias"`
	Description          string `rpc:"Description"`
	Status               string `rpc:"Status"`
	Progress             string `rpc:"Progress"`
	Architecture         string `rpc:"Architecture"`
	BootMode             string `rpc:"BootMode"`
	Platform             string `rpc:"Platform"`
	OSType               string `rpc:"OSType"`
	OSName               string `rpc:"OSName"`
	OSNameEn             string `rpc:"OSNameEn"`
	Size                 int    `rpc:"Size"`
	Usage                string `rpc:"Usage"`
	IsPublic             bool   `rpc:"IsPublic"`
	IsCopied             bool   `rpc:"IsCopied"`
	IsSelfShared         string `rpc:"IsSelfShared"`
	IsSubscribed         bool   `rpc:"IsSubscribed"`
	IsSupportCloudinit   bool   `rpc:"IsSupportCloudinit"`
	IsSupportIOOptimized bool   `rpc:"IsSupportIoOptimized"`
	CreationTime         string `rpc:"CreationTime"`
}

func newImage(id, family, platform, osName, osNameEn, created string) imageView {
	return imageView{ImageID: id, Name: id, Family: family, OwnerAlias: "system", Status: "Available", Progress: "100%", Architecture: "x86_64",
		BootMode: "BIOS", Platform: platform, OSType: "linux", OSName: osName, OSNameEn: osNameEn, Size: 20, Usage: "none", IsPublic: true,
		IsSupportCloudinit: true, IsSupportIOOptimized: true, CreationTime: created}
}

// findImage finds a public image by its id.
func findImage(id string) (imageView, bool) {
	n := slices.IndexFunc(images, func(i imageView) bool { return i.ImageID == id })
	if n < 0 {
		return imageView{}, false
	}
	return images[n], true
}

type describeImagesRequest struct {
	RegionID     string `rpc:"RegionId,required"`
	ImageID      string `rpc:"ImageId"`
	Name         string `rpc:"ImageName"`
	Family       string `rpc:"ImageFamily"`
	OwnerAlias   string `rpc:"ImageOwnerAlias,enum=system|self|others|marketplace,invalid=ImageOwnerUnknown"`
	OSType       string `rpc:"OSType,enum=linux|windows"`
	Architecture string `rpc:"Architecture,enum=i386|x86_64|arm64"`
	Status       string `rpc:"Status,default=Available,enum=Creating|Waiting|Available|UnAvailable|CreateFailed|Deprecated,invalid=StatusNotFound"`
	Usage        string `rpc:"Usage,enum=instance|none"`
	IsPublic     *bool  `rpc:"IsPublic"`
	SnapshotID   string `rpc:"SnapshotId"`
	PageNumber   int    `rpc:"PageNumber,default=1,min=1"`
	PageSize     int    `rpc:"PageSize,default=10,min=1,max=100"`
	gateway.Trial
	Tags []tagging.Tag `rpc:"Tag,max=20,invalid=TooManyTags"`
}

type describeImagesResponse struct {
	TotalCount int         `rpc:"TotalCount"`
	PageNumber int         `rpc:"PageNumber"`
	PageSize   int         `rpc:"PageSize"`
	RegionID   string      `rpc:"RegionId"`
	Images     []imageView `rpc:"Images>Image"`
}

func describeImages(v *state.View, req *describeImagesRequest) (*describeImagesResponse, error) {
	var found []imageView
	for _, i := range images {
		if req.matches(i) {
			found = append(found, i)
		}
	}
	return &describeImagesResponse{TotalCount: len(found), PageNumber: req.PageNumber, PageSize: req.PageSize, RegionID: v.Scope().RegionID,
		Images: listing.Page(found, req.PageNumber, req.PageSize)}, nil
}

// matches: images are not tagged, and come from no snapshot.
func (r *describeImagesRequest) matches(i imageView) bool {
	return (r.ImageID == "" || slices.Contains(strings.Split(r.ImageID, ","), i.ImageID)) &&
		like(r.Name, i.Name) && listing.Matches(r.Family, i.Family) && listing.Matches(r.OwnerAlias, i.OwnerAlias) && listing.Matches(r.OSType, i.OSType) &&
		listing.Matches(r.Architecture, i.Architecture) && listing.Matches(r.Status, i.Status) && listing.Matches(r.Usage, i.Usage) &&
		(r.IsPublic == nil || *r.IsPublic == i.IsPublic) && r.SnapshotID == "" && len(r.Tags) == 0
}

type describeImageSupportInstanceTypesRequest struct {
	RegionID string `rpc:"RegionId,required"`
	ImageID  string `rpc:"ImageId"`
}

type describeImageSupportInstanceTypesResponse struct {
	RegionID      string             `rpc:"RegionId"`
	ImageID       string             `rpc:"ImageId"`
	InstanceTypes []instanceTypeView `rpc:"InstanceTypes>InstanceType"`
}

// describeImageSupportInstanceTypes lists the types with the architecture of the
// image: CLB-0380.
func describeImageSupportInstanceTypes(v *state.View, req *describeImageSupportInstanceTypesRequest) (*describeImageSupportInstanceTypesResponse, error) {
	image, ok := findImage(req.ImageID)
	if !ok {
		return nil, errImageNotFound.Of(req.ImageID)
	}
	resp := &describeImageSupportInstanceTypesResponse{RegionID: v.Scope().RegionID, ImageID: image.ImageID}
	for _, t := range listedTypes() {
		if arm := image.Architecture == "arm64"; arm == (t.CPUArchitecture == "ARM") {
			resp.InstanceTypes = append(resp.InstanceTypes, t)
		}
	}
	return resp, nil
}
